#include "data/records/array_scanner.h"

#include "base/error.h"

namespace odb {
namespace {

bool is_blank(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

}  // namespace

void ArrayScanner::refuse(const std::string& found) const {
  throw DataError(
      "{}:{}: found {}; expected one JSON array of objects, [{{...}}, {{...}}], or JSON Lines "
      "with one object per line",
      path_, line_, found);
}

const char* ArrayScanner::skip_string(const char* at, const char* end) {
  if (escaped_ && at < end) {
    ++at;
    escaped_ = false;
  }
  for (; at < end; ++at) {
    if (*at == '"') {
      in_string_ = false;
      return at + 1;
    }
    if (*at == '\n') ++line_;
    if (*at != '\\') continue;
    if (++at == end) {
      escaped_ = true;
      return end;
    }
  }
  return end;
}

void ArrayScanner::take(char byte, std::uint64_t offset) {
  if (wanted_ == Wanted::nothing) refuse(fmt::format("'{}' after the end of the array", byte));
  if (wanted_ == Wanted::array) {
    if (byte != '[') refuse(fmt::format("'{}' at the start", byte));
    wanted_ = Wanted::element_or_end;
    return;
  }
  const bool at_top = depth_ == 0;
  if (at_top && (byte == ',' || byte == ']')) {
    const bool due =
        wanted_ == Wanted::comma_or_end || (byte == ']' && wanted_ == Wanted::element_or_end);
    if (!due) refuse(fmt::format("'{}' where a value was expected", byte));
    wanted_ = byte == ',' ? Wanted::element : Wanted::nothing;
    data_end_ = offset;
    return;
  }
  if (at_top && wanted_ != Wanted::comma_or_end) {
    row_(offset, line_);
    wanted_ = Wanted::comma_or_end;
  }
  if (byte == '"') in_string_ = true;
  if (byte == '{' || byte == '[') ++depth_;
  if (byte == '}' || byte == ']') {
    if (at_top) refuse(fmt::format("'{}' that closes nothing", byte));
    --depth_;
  }
}

void ArrayScanner::add(std::string_view bytes, std::uint64_t offset) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at < end) {
    if (in_string_) {
      at = skip_string(at, end);
      continue;
    }
    if (*at == '\n')
      ++line_;
    else if (!is_blank(*at))
      take(*at, offset + static_cast<std::uint64_t>(at - bytes.data()));
    ++at;
  }
}

std::uint64_t ArrayScanner::finish() const {
  if (wanted_ == Wanted::array) refuse("nothing");
  if (wanted_ != Wanted::nothing)
    refuse("the end of the file before the closing ']' (was it cut?)");
  return data_end_;
}

}  // namespace odb
