// The option table: every module describes its own plain struct in it, once, and flags, config
// file, help text and JSON Schema all follow from that one declaration.
//
//   struct BatchingOptions {
//     int64_t l_max = 8192;
//     Grouping grouping = Grouping::fit;
//     std::optional<int64_t> accumulate;
//     std::optional<int64_t> global_batch_tokens;
//   };
//   void describe(OptionTable& table, BatchingOptions& options) {
//     table.group("batching");
//     table.add("l-max", options.l_max).unit("tokens").at_least(1).help("token budget of a group");
//     table.add("grouping", options.grouping, {{"greedy", Grouping::greedy}, {"fit",
//     Grouping::fit}})
//         .help("how groups are formed");
//     table.add("accumulate", options.accumulate).at_least(1).default_note("1").help("...");
//     table.add("global-batch-tokens", options.global_batch_tokens).unit("tokens").help("...");
//     table.exclusive({"accumulate", "global-batch-tokens"});
//   }
//
// The variable's own value is the default; its type gives the form (see value.h): std::optional
// where "not given" means something, std::vector where the flag may be repeated. Several structs
// described in one table make up a command's options. The structs must outlive the table. Faults in
// a declaration (a name used twice, an unknown name in a set) are InternalErrors.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/options/option.h"
#include "base/options/value.h"

namespace odb {

// Completes one option; returned by OptionTable::add, used at once and dropped.
template <typename T>
class OptionDeclaration {
 public:
  OptionDeclaration(Option& option, std::shared_ptr<OptionRules<T>> rules)
      : option_(option), rules_(std::move(rules)) {}

  // What the option means: one sentence, no full stop; unit, range and default are printed beside.
  OptionDeclaration& help(std::string text) {
    option_.help = std::move(text);
    return *this;
  }
  // The plural name of what is counted or measured: "tokens". Integers accept it after the number.
  OptionDeclaration& unit(std::string name) {
    rules_->unit = name;
    option_.unit = std::move(name);
    return *this;
  }
  // An earlier name of the option. Flags and config files may still use it; --help and
  // --print-config show the current name only.
  OptionDeclaration& formerly(std::string name) {
    option_.former_names.push_back(std::move(name));
    return *this;
  }
  // Shown where the default depends on something: "1 if no limit is given".
  OptionDeclaration& default_note(std::string text) {
    option_.default_note = std::move(text);
    return *this;
  }
  // Any further rule on a single value; `form` says what is expected: "auto, env or HOST:PORT".
  OptionDeclaration& form(std::string form, std::function<bool(const T&)> holds) {
    option_.form = std::move(form);
    option_.show_form = true;
    rules_->tests.push_back(std::move(holds));
    return *this;
  }

  OptionDeclaration& at_least(T least) {
    return bound(OptionBound::Side::at_least, least, [least](const T& v) { return v >= least; });
  }
  OptionDeclaration& above(T limit) {
    return bound(OptionBound::Side::above, limit, [limit](const T& v) { return v > limit; });
  }
  OptionDeclaration& at_most(T most) {
    return bound(OptionBound::Side::at_most, most, [most](const T& v) { return v <= most; });
  }
  OptionDeclaration& below(T limit) {
    return bound(OptionBound::Side::below, limit, [limit](const T& v) { return v < limit; });
  }

  // The permitted texts (an enum gets its choices from add).
  OptionDeclaration& choices(const std::vector<std::string>& names)
    requires std::same_as<T, std::string>
  {
    for (const std::string& name : names)
      rules_->choices.emplace_back(name, name);
    option_.choices = names;
    option_.placeholder = "NAME";
    return *this;
  }
  // Which units an amount may have.
  OptionDeclaration& units(AcceptedUnits accepted)
    requires std::same_as<T, Amount>
  {
    option_.form = "an amount: " + amount_examples(accepted);
    option_.bare_number = accepted.bare.has_value();
    rules_->accepted = std::move(accepted);
    return *this;
  }

 private:
  OptionDeclaration& bound(OptionBound::Side side, const T& limit,
                           std::function<bool(const T&)> holds) {
    option_.bounds.push_back({side, OptionType<T>::print(limit, *rules_)});
    rules_->tests.push_back(std::move(holds));
    return *this;
  }

  Option& option_;
  std::shared_ptr<OptionRules<T>> rules_;
};

class OptionTable {
 public:
  template <typename V>
  using Declaration = OptionDeclaration<typename OptionShape<V>::Element>;
  template <typename V>
  using Choices = std::vector<std::pair<std::string, typename OptionShape<V>::Element>>;

  OptionTable() = default;
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  // Options added from now on stand under this heading in the help text.
  void group(std::string heading) { group_ = std::move(heading); }

  // `name` as in the flag, without the dashes: lower-case words joined by "-". The second form is
  // for enums, optional and repeatable ones too.
  template <typename V>
  Declaration<V> add(std::string name, V& variable) {
    static_assert(!std::is_enum_v<typename OptionShape<V>::Element>, "give the enum's choices");
    return declare(std::move(name), variable, {});
  }
  template <typename V>
  Declaration<V> add(std::string name, V& variable, Choices<V> choices) {
    static_assert(std::is_enum_v<typename OptionShape<V>::Element>, "for texts use .choices()");
    return declare(std::move(name), variable, std::move(choices));
  }
  // A flag without a value: `--json` sets the variable to true.
  OptionDeclaration<bool> add_switch(std::string name, bool& variable);

  // At most one of these options may be given. All must be std::optional and not given by default,
  // so that a printed config can be loaded again.
  void exclusive(std::vector<std::string> names);
  // These must have a value once all sources are merged. Their defaults are no value: no element,
  // or the empty text. Declared by the command, because an option that one command requires may be
  // optional in another.
  void require(const std::vector<std::string>& names);
  // A rule over several options, called once all sources are merged; throws UsageError.
  void validate(std::function<void()> rule) { rules_.push_back(std::move(rule)); }

  // In the order of declaration. Pointers stay valid as long as the table.
  std::vector<const Option*> options() const;
  std::vector<std::string> names() const;
  const Option* find(std::string_view name) const;  // null when unknown
  const std::vector<std::vector<std::string>>& exclusive_sets() const { return exclusive_; }
  const std::vector<std::function<void()>>& rules() const { return rules_; }

  // For tests of the modules' tables: every option has a help sentence and a group, its default
  // obeys its own rules, and no name stands for two options. Throws InternalError naming the
  // option.
  void check_declarations() const;

 private:
  Option& make_option(std::string name);

  template <typename V>
  Declaration<V> declare(std::string name, V& variable, Choices<V> choices);

  std::deque<Option> options_;
  std::string group_ = "general";
  std::vector<std::vector<std::string>> exclusive_;
  std::vector<std::function<void()>> rules_;
};

namespace detail {
// Reads one text by the type's and the declaration's rules; throws UsageError("found ..., expected
// ...").
template <typename T>
T read_option_value(const std::string& text, const Option& option, const OptionRules<T>& rules) {
  Reading<T> reading = OptionType<T>::read(text, rules);
  bool good = reading.value.has_value();
  for (size_t i = 0; good && i < rules.tests.size(); ++i)
    good = rules.tests[i](*reading.value);
  if (good) return *std::move(reading.value);
  const std::string problem = reading.problem.empty() ? "" : " (" + reading.problem + ")";
  throw UsageError("found '{}'{}, expected {}", text, problem, option.expected());
}
}  // namespace detail

template <typename V>
OptionTable::Declaration<V> OptionTable::declare(std::string name, V& variable,
                                                 Choices<V> choices) {
  using Shape = OptionShape<V>;
  using T = typename Shape::Element;
  constexpr bool kIsWord = std::same_as<T, std::string> || std::same_as<T, std::filesystem::path>;
  constexpr bool kIsName = std::is_enum_v<T>;
  auto rules = std::make_shared<OptionRules<T>>();
  Option& option = make_option(std::move(name));
  option.kind = OptionType<T>::kKind;
  option.form = OptionType<T>::kForm;
  option.show_form = option.kind == OptionKind::text && !kIsWord && !kIsName;
  option.placeholder = OptionType<T>::kPlaceholder;
  option.optional = Shape::kOptional;
  option.none_word = Shape::kOptional && !kIsWord;
  option.repeatable = Shape::kRepeatable;
  if constexpr (std::integral<T> && !std::same_as<T, bool>)
    option.type_bounds = {
        {OptionBound::Side::at_least, fmt::format("{}", std::numeric_limits<T>::min())},
        {OptionBound::Side::at_most, fmt::format("{}", std::numeric_limits<T>::max())}};
  for (const auto& choice : choices)
    option.choices.push_back(choice.first);
  rules->choices = std::move(choices);

  option.read = [&variable, rules] {
    std::vector<std::string> texts;
    if constexpr (Shape::kRepeatable) {
      for (const T& element : variable)
        texts.push_back(OptionType<T>::print(element, *rules));
    } else if constexpr (Shape::kOptional) {
      if (variable) texts.push_back(OptionType<T>::print(*variable, *rules));
    } else {
      texts.push_back(OptionType<T>::print(variable, *rules));
    }
    return texts;
  };
  option.write = [&variable, &option, rules](const std::vector<std::string>& texts) {
    if (texts.empty() && option.never_empty)
      throw UsageError("found no value, expected one or more, each {}", option.expected());
    std::vector<T> values;
    values.reserve(texts.size());
    for (const std::string& text : texts)
      values.push_back(detail::read_option_value<T>(text, option, *rules));
    if constexpr (Shape::kRepeatable) {
      variable = std::move(values);
    } else {
      ODB_CHECK_LE(values.size(), size_t{1});
      ODB_CHECK(Shape::kOptional || !values.empty(), "option {}", option.name);
      if constexpr (Shape::kOptional) variable.reset();
      if (!values.empty()) variable = std::move(values.front());
    }
  };
  if constexpr (requires { OptionType<T>::kBareNumber; })
    option.bare_number = OptionType<T>::kBareNumber;
  option.default_values = option.read();
  option.never_empty = option.repeatable && !option.default_values.empty();
  Declaration<V> declaration(option, rules);
  if constexpr (std::same_as<T, Amount>) declaration.units({});
  return declaration;
}

}  // namespace odb
