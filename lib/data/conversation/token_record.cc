#include "data/conversation/token_record.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

namespace odb {
namespace {

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

// Walks over a text that ends with '}'. Every loop stops at the first character that it does not
// accept, at the latest there, so no loop checks for the end.
class Walker {
 public:
  explicit Walker(std::string_view text) : at_(text.data()), last_(text.data() + text.size() - 1) {}

  bool at_last() const { return at_ == last_; }

  void skip_blanks() {
    while (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')
      ++at_;
  }
  bool take(char letter) {
    skip_blanks();
    if (*at_ != letter || at_ == last_) return false;
    ++at_;
    return true;
  }

  // A string of plain characters, from after its opening quote.
  std::optional<std::string_view> key() {
    const char* const begin = at_;
    while (*at_ != '"') {
      const auto letter = static_cast<unsigned char>(*at_);
      if (letter < 0x20 || letter > 0x7e || letter == '\\' || at_ == last_) return std::nullopt;
      ++at_;
    }
    return std::string_view(begin, static_cast<std::size_t>(at_++ - begin));
  }

  bool number(std::int32_t& value) {
    const bool negative = *at_ == '-';
    if (negative) ++at_;
    const char* const begin = at_;
    std::int64_t magnitude = 0;
    while (is_digit(*at_) && at_ - begin < 11)
      magnitude = magnitude * 10 + (*at_++ - '0');
    const auto digits = at_ - begin;
    const bool leading_zero = *begin == '0' && (digits > 1 || negative);
    if (digits == 0 || leading_zero || magnitude > std::numeric_limits<std::int32_t>::max())
      return false;
    value = static_cast<std::int32_t>(negative ? -magnitude : magnitude);
    return true;
  }

  // From after the opening bracket to after the closing one.
  bool numbers(std::vector<std::int32_t>& values) {
    values.clear();
    if (take(']')) return true;
    do {
      skip_blanks();
      std::int32_t value = 0;
      if (!number(value)) return false;
      values.push_back(value);
    } while (take(','));
    return take(']');
  }

 private:
  const char* at_;
  const char* last_;
};

constexpr std::string_view kPackingKeys[] = {
    "position_ids",  "seq_lengths",   "seq_lens", "sequence_lengths", "cu_seqlens",  "cu_seq_lens",
    "cu_seq_lens_q", "cu_seq_lens_k", "seq_idx",  "segment_ids",      "document_ids"};
constexpr std::string_view kLabelMasks[] = {"loss_mask", "loss_weights", "completion_mask",
                                            "assistant_masks"};

bool may_be_skipped(std::string_view key, const std::vector<std::int32_t>& values) {
  const TokenKey kind = token_key(key);
  return kind == TokenKey::other ||
         (kind == TokenKey::attention_mask &&
          std::ranges::all_of(values, [](std::int32_t value) { return value == 1; }));
}

}  // namespace

TokenKey token_key(std::string_view key) {
  if (key == "attention_mask") return TokenKey::attention_mask;
  if (std::ranges::find(kPackingKeys, key) != std::end(kPackingKeys)) return TokenKey::packing;
  return std::ranges::find(kLabelMasks, key) != std::end(kLabelMasks) ? TokenKey::label_mask
                                                                      : TokenKey::other;
}

TokenRecord read_token_record(std::string_view text, const TokenColumns& columns,
                              std::vector<std::int32_t>& ids, std::vector<std::int32_t>& labels) {
  if (text.empty() || text.back() != '}') return TokenRecord::none;
  Walker walker(text);
  if (!walker.take('{')) return TokenRecord::none;
  bool has_ids = false;
  bool has_labels = false;
  std::vector<std::int32_t> others;
  do {
    if (!walker.take('"')) return TokenRecord::none;
    const auto key = walker.key();
    if (!key || !walker.take(':') || !walker.take('[')) return TokenRecord::none;
    const bool is_ids = *key == columns.ids;
    const bool is_labels = *key == columns.labels;
    if ((is_ids && has_ids) || (is_labels && has_labels)) return TokenRecord::none;
    has_ids = has_ids || is_ids;
    has_labels = has_labels || is_labels;
    if (!walker.numbers(is_ids ? ids : is_labels ? labels : others)) return TokenRecord::none;
    if (!is_ids && !is_labels && !may_be_skipped(*key, others)) return TokenRecord::none;
  } while (walker.take(','));
  walker.skip_blanks();
  if (!walker.at_last() || !has_ids) return TokenRecord::none;
  return has_labels ? TokenRecord::ids_and_labels : TokenRecord::ids;
}

}  // namespace odb
