// One option as the sources, the help text and the schema see it: names, rules and texts. Its
// variable is reached only through `read` and `write`, in texts as flags write them, so nothing
// here depends on its type.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace odb {

// How a value is written in JSON. Text covers everything that is not a plain number: names, paths,
// amounts, durations.
enum class OptionKind { boolean, integer, number, text };

struct OptionBound {
  enum class Side { at_least, above, at_most, below };
  Side side;
  std::string value;
};

struct Option {
  std::string name;                       // "l-max"
  std::vector<std::string> former_names;  // still read, shown nowhere
  std::string group;                      // "batching": its heading in the help text
  std::string unit;                       // "tokens"; empty: none
  std::string help;                       // what it means, in a sentence without full stop

  OptionKind kind = OptionKind::text;
  std::string form;                  // what a value looks like: "an integer", "a path"
  bool show_form = false;            // whether the help text shows the form, too
  std::string placeholder;           // stands for the value in the help text: "N", "PATH"
  std::vector<std::string> choices;  // the permitted values; empty: not a list
  std::vector<OptionBound> bounds;
  std::vector<OptionBound> type_bounds;  // of integers: what the variable can hold
  bool bare_number = false;  // text that JSON may also write as a number (an amount's usual unit)
  bool is_switch = false;    // a flag without value: `--json`
  bool optional = false;     // may have no value (JSON null)
  bool none_word = false;    // the flag's value `none` means no value
  bool repeatable = false;   // `--data A --data B`, a list in JSON
  bool required = false;     // must be given, by any source
  bool never_empty = false;  // a list that must not become empty: it has values by default
  std::vector<std::string> default_values;  // at most one unless repeatable
  std::string default_note;                 // shown instead of the default

  // The current values; none when not given. Writing replaces them all; throws UsageError("found
  // ..., expected ...") without a place.
  std::function<std::vector<std::string>()> read;
  std::function<void(const std::vector<std::string>&)> write;

  // Has a value that is not the empty text.
  bool is_given() const;
  std::string flag() const;  // "--l-max"
  std::string key() const;   // "l_max"
  // `name`, then the former names.
  std::vector<std::string> all_names() const;
  // "an integer, at least 1 (tokens)", "one of greedy, fit".
  std::string expected() const;
  // "at least 1, below 5"; empty when unbounded.
  std::string range() const;
};

// The names of an option as a flag and as a key of a config file.
std::string flag_of(std::string_view name);  // "l-max": "--l-max"
std::string key_of(std::string_view name);   // "l-max": "l_max"

}  // namespace odb
