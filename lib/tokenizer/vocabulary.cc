#include "tokenizer/vocabulary.h"

#include <xxhash.h>

#include <algorithm>

#include "base/error.h"
#include "base/index.h"

namespace odb {

namespace {
std::uint32_t hash_of(std::string_view token) {
  return static_cast<std::uint32_t>(XXH3_64bits(token.data(), token.size()));
}
}  // namespace

std::size_t Vocabulary::slot_of(std::string_view token, std::uint32_t hash) const {
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].entry_plus_one != 0) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && spelling_of(entries_[slot.entry_plus_one - 1]) == token) return at;
    at = (at + 1) & (slots_.size() - 1);
  }
  return at;
}

void Vocabulary::grow(std::size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.entry_plus_one == 0) continue;
    std::size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].entry_plus_one != 0)
      at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

bool Vocabulary::add(std::string_view token, TokenId id) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow(std::max<std::size_t>(16, 2 * slots_.size()));
  const std::uint32_t hash = hash_of(token);
  Slot& slot = slots_[slot_of(token, hash)];
  if (slot.entry_plus_one != 0) return false;
  entries_.push_back(
      {static_cast<std::uint32_t>(letters_.size()), static_cast<std::uint32_t>(token.size()), id});
  letters_ += token;
  slot = {static_cast<std::uint32_t>(entries_.size()), hash};
  return true;
}

void Vocabulary::seal(const std::string& where) {
  std::vector<std::uint32_t> entry_of_id(entries_.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (static_cast<std::size_t>(entry.id) >= entries_.size())
      continue;  // leaves a hole, see below
    if (entry_of_id[entry.id] != UINT32_MAX) {
      throw DataError("{}: the id {} is given twice, to '{}' and to '{}'", where, entry.id,
                      spelling_of(entries_[entry_of_id[entry.id]]), spelling_of(entry));
    }
    entry_of_id[entry.id] = i;
  }
  const auto hole = std::find(entry_of_id.begin(), entry_of_id.end(), UINT32_MAX);
  if (hole != entry_of_id.end()) {
    const auto largest =
        std::max_element(entries_.begin(), entries_.end(),
                         [](const Entry& a, const Entry& b) { return a.id < b.id; });
    throw DataError(
        "{}: {} tokens with ids up to {}, but no token has the id {}; ids must have no hole", where,
        entries_.size(), largest->id, hole - entry_of_id.begin());
  }
  std::vector<Entry> by_id(entries_.size());
  for (const Entry& entry : entries_)
    by_id[entry.id] = entry;
  for (Slot& slot : slots_) {
    if (slot.entry_plus_one != 0) {
      slot.entry_plus_one = static_cast<std::uint32_t>(entries_[slot.entry_plus_one - 1].id) + 1;
    }
  }
  entries_.swap(by_id);
}

std::optional<TokenId> Vocabulary::find(std::string_view token) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[slot_of(token, hash_of(token))];
  if (slot.entry_plus_one == 0) return std::nullopt;
  return entries_[slot.entry_plus_one - 1].id;
}

std::string_view Vocabulary::spelling(TokenId id) const {
  return spelling_of(at(entries_, id));
}

}  // namespace odb
