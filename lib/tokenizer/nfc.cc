#include "tokenizer/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/index.h"
#include "tokenizer/code_points.h"
#include "tokenizer/utf8.h"

namespace odb {

namespace {

// Everything below U+0300 is in form C, so its bytes need no table lookup.
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
// it. Nothing outside affects it: what follows keeps its place, what comes before is stable.
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

int combining_class(std::int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

// Canonical order: each run of marks by combining class, equal ones as they came. utf8proc's own
// ordering swaps neighbors, which takes hours on megabytes of marks.
void order_marks(std::vector<std::int32_t>& code_points) {
  const auto is_mark = [](std::int32_t code_point) { return combining_class(code_point) != 0; };
  const auto lower = [](std::int32_t a, std::int32_t b) {
    return combining_class(a) < combining_class(b);
  };
  for (auto at = code_points.begin(); at != code_points.end();) {
    const auto first = std::find_if(at, code_points.end(), is_mark);
    at = std::find_if_not(first, code_points.end(), is_mark);
    if (at - first > 1) std::stable_sort(first, at, lower);
  }
}

// `code_points` is working space.
void append_composed(std::string_view segment, std::vector<std::int32_t>& code_points,
                     std::string& out) {
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  constexpr std::size_t kLongestDecomposition = 18;
  std::array<utf8proc_int32_t, kLongestDecomposition> parts;
  int unused = 0;
  code_points.clear();
  for (std::size_t at = 0; at < segment.size();) {
    const CodePoint next = read_code_point(segment.data() + at);
    at += next.bytes;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(next.value), parts.data(),
                                static_cast<utf8proc_ssize_t>(parts.size()), kOptions, &unused);
    ODB_CHECK(count >= 0 && count <= static_cast<utf8proc_ssize_t>(parts.size()),
              "U+{:04X} decomposes into {}", next.value, count);
    code_points.insert(code_points.end(), parts.begin(), parts.begin() + count);
  }
  order_marks(code_points);
  const utf8proc_ssize_t count = utf8proc_normalize_utf32(
      code_points.data(), static_cast<utf8proc_ssize_t>(code_points.size()), kOptions);
  ODB_CHECK_GE(count, 0);
  for (utf8proc_ssize_t i = 0; i < count; ++i)
    append_utf8(static_cast<std::uint32_t>(at(code_points, i)), out);
}

}  // namespace

std::string_view normalize_nfc(std::string_view text, std::string& scratch) {
  const CodePointTable& table = code_point_table();
  scratch.clear();
  std::string composed;
  std::vector<std::int32_t> code_points;
  std::size_t copied = 0;  // text before it is in scratch, if any of it was changed
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
    append_composed(original, code_points, composed);
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
