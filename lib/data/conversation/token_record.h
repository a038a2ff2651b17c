// A shortcut for records of token ids: one object whose values are all lists of whole numbers,
//   {"input_ids": [151644, 872, 198], "labels": [-100, 872, 198]}
// Without it, three quarters of the time for such data is spent in the general JSON parser.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace odb {

struct TokenColumns {
  std::string_view ids;     // required
  std::string_view labels;  // optional
};

enum class TokenRecord : std::uint8_t {
  none,           // not of this form, or uncertain
  ids,            // `ids` is filled
  ids_and_labels  // both are
};

// What a key beside the ids and labels means.
enum class TokenKey : std::uint8_t {
  other,          // ignored
  packing,        // several samples in one row: position_ids, cu_seqlens, ...
  label_mask,     // which tokens are trained: loss_mask, completion_mask, ...
  attention_mask  // ignored if all of it is 1
};
TokenKey token_key(std::string_view key);

// Reads `text` if it has that form: keys without escapes, the named ones once, whole numbers that
// fit. Other lists are skipped; those whose key has a meaning (TokenKey) make it uncertain, except
// an attention_mask of ones. The result then equals that of a JSON parser. Overwrites both
// lists.
TokenRecord read_token_record(std::string_view text, const TokenColumns& columns,
                              std::vector<std::int32_t>& ids, std::vector<std::int32_t>& labels);

}  // namespace odb
