#include "tokenizer/regex_dialect.h"

#include <cctype>
#include <initializer_list>

#include <fmt/format.h>

#include "base/error.h"
#include "tokenizer/regex_groups.h"

namespace odb {

namespace {

// Adjacent letters that case folding joins to one character (ß, ﬀ, ﬁ, ﬂ, ﬆ).
bool folds_with_one(char first, char second) {
  for (const std::string_view pair : {"ss", "ff", "fi", "fl", "st"}) {
    if (pair[0] == std::tolower(first) && pair[1] == std::tolower(second)) return true;
  }
  return false;
}

class Translator {
 public:
  Translator(std::string_view pattern, Pcre2Unicode unicode, const std::string& where)
      : pattern_(pattern), unicode_(unicode), where_(where) {}

  std::string run() {
    while (at_ < pattern_.size()) {
      if (in_class_) {
        class_member();
      } else if (pattern_[at_] == '\\') {
        groups_.add_item(false);
        escape();
        last_letter_ = 0;
      } else {
        outside_class();
      }
    }
    return out_;
  }

 private:
  [[noreturn]] void refuse(std::size_t offset, std::string_view what) const {
    throw DataError("{}: the pattern {} has {} at offset {}, which is not supported", where_,
                    pattern_, what, offset);
  }

  bool next_is(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  void copy(std::size_t count) {
    out_ += pattern_.substr(at_, count);
    at_ += count;
  }

  void replace(std::size_t count, std::string_view text) {
    out_ += text;
    at_ += count;
  }

  void escape() {
    if (at_ + 1 >= pattern_.size()) refuse(at_, "a lone backslash");
    const auto character = static_cast<unsigned char>(pattern_[at_ + 1]);
    if (character >= 0x80) refuse(at_, "a backslash before a character that is not ASCII");
    if (!std::isalnum(character)) return copy(2);
    const std::string name = fmt::format("the escape \\{}", pattern_[at_ + 1]);
    if (groups_.ignores_case() &&
        std::string_view("sSdrntfae").find(pattern_[at_ + 1]) == std::string_view::npos) {
      refuse(at_, name + " where case is ignored");
    }
    switch (character) {
      case 's':
        return replace(2, R"(\p{wspace})");
      case 'S':
        return replace(2, R"(\P{wspace})");
      case 'w':
      case 'W':
        return words(character == 'W');
      case 'd':
      case 'D':
        at_ += 2;
        return members(character == 'D', digit_characters(unicode_));
      case 'p':
      case 'P':
        return property();
      case 'v':
        return replace(2, R"(\x0B)");
      case 'u':
        return code_point();
      case 'x':
        if (next_is("\\x{")) return copy(3);
        if (at_ + 2 < pattern_.size() && pattern_[at_ + 2] >= '8') refuse(at_, "a raw byte");
        return copy(2);
      case 'r':
      case 'n':
      case 't':
      case 'f':
      case 'a':
      case 'e':
        return copy(2);
      case 'A':
      case 'z':
      case 'Z':
        if (in_class_) break;
        groups_.make_optional();
        return copy(2);
      default:
        break;
    }
    refuse(at_, name);
  }

  void words(bool negated) {
    at_ += 2;
    CharacterSet set = word_characters(unicode_);
    if (!in_class_) set.added += kBareWordCharacters;
    members(negated, set);
  }

  // Members of a class, or outside one a class of them.
  void members(bool negated, const CharacterSet& set) {
    if (!in_class_) {
      out_ += fmt::format("[{}{}{}]", negated ? "^" : "", set.escape, set.added);
    } else if (!negated) {
      out_.append(set.escape).append(set.added);
    } else {
      refuse(at_ - 2, "a negated escape inside a class");
    }
  }

  // \p{L}, \P{L}, \p{^L}.
  void property() {
    const std::size_t start = at_;
    bool negated = pattern_[at_ + 1] == 'P';
    const std::size_t close = pattern_.find('}', at_);
    if (pattern_.substr(at_ + 2, 1) != "{") refuse(start, "a property without braces");
    if (close == std::string_view::npos) refuse(start, "a property without end");
    std::string_view name = pattern_.substr(at_ + 3, close - at_ - 3);
    at_ = close + 1;
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    const auto set = character_property(name, unicode_);
    if (!set) refuse(start, fmt::format("the property '{}'", name));
    if (set->added.empty()) {
      out_ += negated ? "\\P" + set->escape.substr(2) : set->escape;
    } else {
      members(negated, *set);
    }
  }

  void code_point() {
    const std::string_view digits = pattern_.substr(at_ + 2, 4);
    for (const char digit : digits) {
      if (!std::isxdigit(static_cast<unsigned char>(digit))) refuse(at_, "\\u without four digits");
    }
    if (digits.size() != 4) refuse(at_, "\\u without four digits");
    replace(6, "\\x{" + std::string(digits) + "}");
  }

  void class_member() {
    if (pattern_[at_] == '\\') return escape();
    if (pattern_[at_] == '[') refuse(at_, "a class inside a class");
    if (next_is("&&")) refuse(at_, "an intersection of classes");
    check_case();
    if (pattern_[at_] == ']') in_class_ = false;
    copy(1);
  }

  void outside_class() {
    const char character = pattern_[at_];
    switch (character) {
      case '[':
        groups_.add_item(false);
        last_letter_ = 0;
        in_class_ = true;
        copy(next_is("[^") ? 2 : 1);
        if (next_is("]")) refuse(at_, "an empty class");
        return;
      case '(':
        return group();
      case ')':
        groups_.close();
        return copy(1);
      case '|':
        groups_.next_alternative();
        last_letter_ = 0;
        return copy(1);
      case '*':
      case '+':
      case '?':
        return repetition();
      case '{':
        return interval();
      default:
        return literal();
    }
  }

  void literal() {
    const char character = pattern_[at_];
    check_case();
    if (groups_.ignores_case() && folds_with_one(last_letter_, character)) {
      refuse(at_ - 1, fmt::format("'{}{}' where case is ignored", last_letter_, character));
    }
    groups_.add_item(character == '^' || character == '$');
    last_letter_ = character;
    copy(1);
  }

  void check_case() const {
    if (groups_.ignores_case() && static_cast<unsigned char>(pattern_[at_]) >= 0x80) {
      refuse(at_, "a character that is not ASCII where case is ignored");
    }
  }

  void group() {
    if (next_is("(*")) refuse(at_, "a verb (*...)");
    if (!next_is("(?")) return open_group("(");
    for (const std::string_view known : {"(?:", "(?>", "(?i:", "(?-i:"}) {
      if (!next_is(known)) continue;
      open_group(known);
      if (known == "(?i:") groups_.set_ignores_case(true);
      if (known == "(?-i:") groups_.set_ignores_case(false);
      return;
    }
    for (const std::string_view known : {"(?=", "(?!", "(?<=", "(?<!"}) {
      if (next_is(known)) return open_group(known, true);
    }
    // Elsewhere the two languages disagree on how far the option reaches over alternatives.
    if (at_ != 0 || !next_is("(?i)")) refuse(at_, "a group of this kind");
    groups_.set_ignores_case(true);
    copy(4);
  }

  void open_group(std::string_view opening, bool looks = false) {
    groups_.open(looks);
    copy(opening.size());
  }

  // * + ? and what may follow them: + (possessive) or ? (lazy).
  void repetition() {
    const char character = pattern_[at_];
    if (character != '?') check_repeated();
    if (character != '+') groups_.make_optional();
    last_letter_ = 0;
    copy(1);
    if (next_is("?") || next_is("+")) copy(1);
  }

  // Oniguruma leaves a loop when a round has matched nothing, PCRE2 at another time.
  void check_repeated() const {
    if (groups_.last_can_be_empty()) refuse(at_, "a repetition of what can match nothing");
  }

  // {n} {n,} {n,m} {,m}. After them Oniguruma takes '+' as one more repetition and '?' after {n}
  // as "or not at all", PCRE2 as possessive and lazy.
  void interval() {
    const std::size_t close = pattern_.find('}', at_);
    const std::string_view inside =
        close == std::string_view::npos ? "" : pattern_.substr(at_ + 1, close - at_ - 1);
    const bool is_interval = !inside.empty() && inside != "," &&
                             inside.find_first_not_of("0123456789,") == std::string_view::npos &&
                             inside.find(',') == inside.rfind(',');
    if (!is_interval) refuse(at_, "a brace that is no interval");
    check_repeated();
    const std::size_t start = at_;
    if (inside.front() == ',' || inside.find_first_not_of('0') != 0) groups_.make_optional();
    last_letter_ = 0;
    if (inside.front() == ',') {
      replace(2, "{0,");
      copy(inside.size());
    } else {
      copy(inside.size() + 2);
    }
    if (next_is("+")) refuse(start, "an interval followed by '+'");
    if (next_is("?")) {
      if (inside.find(',') == std::string_view::npos) {
        refuse(start, "an interval {n} followed by '?'");
      }
      copy(1);
    }
  }

  std::string_view pattern_;
  Pcre2Unicode unicode_;
  const std::string& where_;
  std::size_t at_ = 0;
  bool in_class_ = false;
  RegexGroups groups_;
  char last_letter_ = 0;  // the literal right before, 0: none
  std::string out_;
};

}  // namespace

std::string translate_oniguruma(std::string_view pattern, Pcre2Unicode unicode,
                                const std::string& where) {
  return Translator(pattern, unicode, where).run();
}

}  // namespace odb
