// A shortcut for records of token ids: one object whose values are all lists of whole numbers,
//   {"input_ids": [151644, 872, 198], "labels": [-100, 872, 198]}
// Read as general JSON, such data spends three quarters of its time there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace odb {

struct TokenColumns {
  std::string_view ids;     // must be there
  std::string_view labels;  // may be there
};

enum class TokenRecord : std::uint8_t {
  none,           // not of this form, or in any doubt: nothing is said about it
  ids,            // `ids` is filled
  ids_and_labels  // both are
};

// Reads `text` if it is of that form: keys without escapes, the named ones once, whole numbers that
// fit. Other lists are read over. The answer is then that of a JSON parser. Overwrites both lists.
TokenRecord read_token_record(std::string_view text, const TokenColumns& columns,
                              std::vector<std::int32_t>& ids, std::vector<std::int32_t>& labels);

}  // namespace odb
