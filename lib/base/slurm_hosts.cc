#include "base/slurm_hosts.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr std::int64_t kMaxHosts = 1 << 24;

class HostListParser {
 public:
  explicit HostListParser(std::string_view text) : text_(text) {}

  HostList parse() {
    HostList list;
    do {
      const HostList part = parse_pattern();
      if (list.count == 0) list.first = part.first;
      list.count += part.count;
    } while (take(','));
    if (at_ < text_.size()) refuse("a comma is missing");
    return list;
  }

 private:
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  // Names and brackets up to a comma outside brackets.
  HostList parse_pattern() {
    HostList hosts{.first = "", .count = 1};
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',') {
      if (take('[')) {
        const HostList numbers = parse_brackets();
        hosts.first += numbers.first;
        hosts.count *= numbers.count;
        if (hosts.count > kMaxHosts) refuse("too many hosts");
      } else if (is_name(text_[at_])) {
        hosts.first += text_[at_++];
      } else {
        refuse("a host name has letters, digits, '-', '.' and '_'");
      }
    }
    if (at_ == begin) refuse("a host name is missing");
    return hosts;
  }

  static bool is_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
  }

  // "001-003,007]", after the bracket.
  HostList parse_brackets() {
    HostList numbers;
    do {
      const std::string_view low = digits();
      std::int64_t count = 1;
      if (take('-')) {
        const std::int64_t difference = value(digits()) - value(low);
        if (difference < 0) refuse("a range begins above its end");
        count = difference + 1;
      }
      if (numbers.count == 0) numbers.first = low;
      numbers.count += count;
    } while (take(','));
    if (!take(']')) refuse("']' is missing");
    return numbers;
  }

  std::string_view digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
      ++at_;
    if (at_ == begin) refuse("a number is missing in brackets");
    return text_.substr(begin, at_ - begin);
  }

  std::int64_t value(std::string_view digits) {
    const auto number = parse_integer<std::int64_t>(digits);
    if (!number || *number > kMaxHosts) refuse("a number in brackets is too large");
    return *number;
  }

  [[noreturn]] void refuse(const char* why) const {
    throw UsageError("the list of hosts '{}' cannot be read at character {}: {}", text_, at_ + 1,
                     why);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

HostList parse_host_list(std::string_view text) {
  return HostListParser(text).parse();
}

}  // namespace odb
