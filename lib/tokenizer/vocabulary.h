// Token strings and their ids, both ways. Strings are kept as the file spells them ("Ġthe"), in one
// block; about 6 MB for 150,000 tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/token_id.h"

namespace odb {

class Vocabulary {
 public:
  // Returns false, and changes nothing, if the string exists already. Ids may come in any
  // order. REQUIRES: id >= 0; not after seal().
  bool add(std::string_view token, TokenId id);

  // Call after the last add(). Throws DataError beginning with `where` when an id is used twice or
  // the ids leave a hole, naming them.
  void seal(const std::string& where);

  std::size_t size() const { return entries_.size(); }
  std::optional<TokenId> find(std::string_view token) const;

  // REQUIRES: sealed, 0 <= id < size().
  std::string_view spelling(TokenId id) const;

 private:
  struct Entry {
    std::uint32_t offset;
    std::uint32_t length;
    TokenId id;
  };
  struct Slot {
    std::uint32_t entry_plus_one = 0;  // 0: free
    std::uint32_t hash = 0;
  };

  std::string_view spelling_of(const Entry& entry) const {
    return std::string_view(letters_).substr(entry.offset, entry.length);
  }
  std::size_t slot_of(std::string_view token, std::uint32_t hash) const;
  void grow(std::size_t slots);

  std::string letters_;
  std::vector<Entry> entries_;  // in order of insertion; by id once sealed
  std::vector<Slot> slots_;     // open addressing, a power of two, at most half full
};

}  // namespace odb
