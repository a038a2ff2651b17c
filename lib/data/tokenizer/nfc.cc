#include "data/tokenizer/nfc.h"

#include <utf8proc.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "data/tokenizer/code_points.h"
#include "data/tokenizer/utf8.h"

namespace odb {

namespace {

// Everything below U+0300 is in form C, so its bytes can be passed by without a look at the table.
constexpr unsigned char kFirstUncertainLead = 0xCC;

std::size_t skip_certain(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  while (at < text.size()) {
    if (at + 8 <= text.size()) {
      std::uint64_t eight;
      std::memcpy(&eight, text.data() + at, 8);
      if ((eight & kHighBits) == 0) {
        at += 8;
        continue;
      }
    }
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead >= kFirstUncertainLead) return at;
    at += lead < 0x80 ? 1 : 2;
  }
  return at;
}

// A run of characters that NFC may change, with the character before them if they may merge with
// it. Nothing outside can influence it: what follows keeps its place, what comes before is stable.
struct Segment {
  std::size_t begin;
  std::size_t end;
};

Segment segment_at(std::string_view text, std::size_t first, std::size_t lower_bound,
                   const CodePointTable& table) {
  Segment segment{first, first};
  if (first > lower_bound) {
    const CodePoint before = read_code_point_before(text, first);
    if (!(table[before.value] & nfc_opaque)) segment.begin = first - before.bytes;
  }
  while (segment.end < text.size()) {
    const CodePoint next = read_code_point(text.data() + segment.end);
    if (!(table[next.value] & nfc_check)) break;
    segment.end += next.bytes;
  }
  return segment;
}

void append_composed(std::string_view segment, std::string& out) {
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(segment.data());
  const auto length = static_cast<utf8proc_ssize_t>(segment.size());
  std::array<utf8proc_int32_t, 64> few;
  std::vector<utf8proc_int32_t> many;
  utf8proc_int32_t* buffer = few.data();
  utf8proc_ssize_t count = utf8proc_decompose(bytes, length, buffer, few.size(), options);
  if (count > static_cast<utf8proc_ssize_t>(few.size())) {
    many.resize(static_cast<std::size_t>(count));
    buffer = many.data();
    count = utf8proc_decompose(bytes, length, buffer, count, options);
  }
  ODB_CHECK_GE(count, 0);
  count = utf8proc_normalize_utf32(buffer, count, options);
  ODB_CHECK_GE(count, 0);
  for (utf8proc_ssize_t i = 0; i < count; ++i)
    append_utf8(static_cast<std::uint32_t>(buffer[i]), out);
}

}  // namespace

std::string_view normalize_nfc(std::string_view text, std::string& scratch) {
  const CodePointTable& table = code_point_table();
  scratch.clear();
  std::string composed;
  std::size_t copied = 0;  // text before it stands in scratch, if any of it was changed
  bool changed = false;
  for (std::size_t at = skip_certain(text, 0); at < text.size(); at = skip_certain(text, at)) {
    const CodePoint character = read_code_point(text.data() + at);
    if (!(table[character.value] & nfc_check)) {
      at += character.bytes;
      continue;
    }
    const Segment segment = segment_at(text, at, copied, table);
    const std::string_view original = text.substr(segment.begin, segment.end - segment.begin);
    composed.clear();
    append_composed(original, composed);
    if (composed != original) {
      changed = true;
      scratch.append(text, copied, segment.begin - copied);
      scratch += composed;
      copied = segment.end;
    }
    at = segment.end;
  }
  if (!changed) return text;
  scratch.append(text, copied);
  return scratch;
}

}  // namespace odb
