#include "data/tokenizer/regex_dialect.h"

#include <cctype>
#include <initializer_list>
#include <span>

#include <fmt/format.h>

#include "base/error.h"
#include "data/tokenizer/code_points.h"

namespace odb {

namespace {

constexpr std::string_view kWordMembers = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

class Translator {
 public:
  Translator(std::string_view pattern, Pcre2Unicode unicode, const std::string& where)
      : pattern_(pattern), adds_newer_(unicode == Pcre2Unicode::older_than_16), where_(where) {}

  std::string run() {
    while (at_ < pattern_.size()) {
      if (pattern_[at_] == '\\') {
        escape();
      } else if (in_class_) {
        class_member();
      } else {
        outside_class();
      }
    }
    return out_;
  }

 private:
  [[noreturn]] void refuse(std::size_t offset, const char* what) const {
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
    if (!std::isalnum(character)) return copy(2);
    switch (character) {
      case 's':
        return replace(2, R"(\p{wspace})");
      case 'S':
        return replace(2, R"(\P{wspace})");
      case 'w':
      case 'W':
        at_ += 2;
        return members(character == 'W', kWordMembers, newer_words());
      case 'd':
      case 'D':
        at_ += 2;
        return members(character == 'D', "\\p{Nd}", newer_of("Nd"));
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
        if (!in_class_) return copy(2);
        break;
      default:
        break;
    }
    refuse(at_, ("the escape \\" + std::string(1, static_cast<char>(character))).c_str());
  }

  // The code points that the system may lack, as members of a class.
  template <typename Wanted>
  std::string newer(const Wanted& wanted) const {
    std::string ranges;
    if (!adds_newer_) return ranges;
    for (const detail::NewerRange& range :
         std::span(detail::kNewerRanges, detail::kNewerRangeCount)) {
      if (wanted(range)) ranges += fmt::format("\\x{{{:X}}}-\\x{{{:X}}}", range.first, range.last);
    }
    return ranges;
  }
  std::string newer_of(std::string_view category) const {
    if (category.empty() || category.size() > 2) return "";
    return newer([category](const detail::NewerRange& range) {
      return std::string_view(range.category).starts_with(category);
    });
  }
  std::string newer_words() const {
    return newer([](const detail::NewerRange& range) { return range.is_word; });
  }

  // Members of a class, or outside one a class of them.
  void members(bool negated, std::string_view known, const std::string& added) {
    if (!in_class_) {
      out_ += fmt::format("[{}{}{}]", negated ? "^" : "", known, added);
    } else if (!negated) {
      out_.append(known).append(added);
    } else {
      refuse(at_ - 2, "a negated escape inside a class");
    }
  }

  // \p{L}, \P{L}, \p{^L}, \pL.
  void property() {
    const std::size_t start = at_;
    bool negated = pattern_[at_ + 1] == 'P';
    at_ += 2;
    std::string_view name = pattern_.substr(at_, 1);
    if (name == "{") {
      const std::size_t close = pattern_.find('}', at_);
      if (close == std::string_view::npos) refuse(start, "a property without end");
      name = pattern_.substr(at_ + 1, close - at_ - 1);
      at_ = close;
    }
    ++at_;
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    const std::string added = newer_of(name);
    if (added.empty()) {
      out_ += fmt::format("\\{}{{{}}}", negated ? 'P' : 'p', name);
    } else {
      members(negated, fmt::format("\\p{{{}}}", name), added);
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
    if (pattern_[at_] == '[') refuse(at_, "a class inside a class");
    if (next_is("&&")) refuse(at_, "an intersection of classes");
    if (pattern_[at_] == ']') in_class_ = false;
    copy(1);
  }

  void outside_class() {
    switch (pattern_[at_]) {
      case '[':
        in_class_ = true;
        copy(next_is("[^") ? 2 : 1);
        if (next_is("]")) refuse(at_, "an empty class");
        return;
      case '(':
        return group();
      case '{':
        return interval();
      default:
        return copy(1);
    }
  }

  void group() {
    if (next_is("(*")) refuse(at_, "a verb (*...)");
    if (!next_is("(?")) return copy(1);
    for (const std::string_view known :
         {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:"}) {
      if (next_is(known)) return copy(known.size());
    }
    // Further along the two languages disagree on how far the option reaches over alternatives.
    if (at_ == 0 && next_is("(?i)")) return copy(4);
    refuse(at_, "a group of this kind");
  }

  // {n} {n,} {n,m} {,m}. Behind them Oniguruma takes '+' as one more repetition and '?' after {n}
  // as "or not at all", PCRE2 as possessive and lazy.
  void interval() {
    const std::size_t close = pattern_.find('}', at_);
    const std::string_view inside =
        close == std::string_view::npos ? "" : pattern_.substr(at_ + 1, close - at_ - 1);
    const bool is_interval = !inside.empty() && inside != "," &&
                             inside.find_first_not_of("0123456789,") == std::string_view::npos &&
                             inside.find(',') == inside.rfind(',');
    if (!is_interval) refuse(at_, "a brace that is no interval");
    const std::size_t start = at_;
    if (inside.front() == ',') {
      replace(2, "{0,");
      copy(inside.size());
    } else {
      copy(inside.size() + 2);
    }
    if (next_is("+")) refuse(start, "an interval followed by '+'");
    if (next_is("?") && inside.find(',') == std::string_view::npos) {
      refuse(start, "an interval {n} followed by '?'");
    }
  }

  std::string_view pattern_;
  bool adds_newer_;
  const std::string& where_;
  std::size_t at_ = 0;
  bool in_class_ = false;
  std::string out_;
};

}  // namespace

std::string translate_oniguruma(std::string_view pattern, Pcre2Unicode unicode,
                                const std::string& where) {
  return Translator(pattern, unicode, where).run();
}

}  // namespace odb
