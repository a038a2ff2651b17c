#include "tokenizer/encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/nfc.h"
#include "tokenizer/utf8.h"

namespace odb {

namespace {

constexpr std::size_t kBytesPerSet = 64;
constexpr std::size_t kSmallestCache = 4096;
constexpr std::size_t kLargestText = std::numeric_limits<std::int32_t>::max();

std::size_t cache_sets(std::size_t bytes) {
  return std::bit_floor(std::max(bytes, kSmallestCache)) / kBytesPerSet;
}

// Returns whether `text` is all ASCII.
bool check_text(std::string_view text) {
  if (text.size() > kLargestText) {
    throw DataError("a text of {} bytes; a sample must stay under 2 GiB", text.size());
  }
  if (is_ascii(text)) return true;
  if (const auto invalid = find_invalid_utf8(text)) {
    throw DataError("the text is not valid UTF-8: byte 0x{:02X} at offset {}",
                    static_cast<unsigned char>(text[*invalid]), *invalid);
  }
  return false;
}

}  // namespace

Encoder::Encoder(const Tokenizer& tokenizer, EncoderOptions options)
    : tokenizer_(tokenizer),
      control_(options.parse_special_in_text ? ControlTokens::found : ControlTokens::plain),
      bpe_(tokenizer.parts_.merges),
      cache_(cache_sets(options.cache_bytes), options.cache_bytes / 4) {}

std::vector<TokenId> Encoder::encode(std::string_view text) {
  std::vector<TokenId> ids;
  encode(text, ids);
  return ids;
}

void Encoder::encode(std::string_view text, std::vector<TokenId>& ids) {
  const bool ascii = check_text(text);
  const std::size_t before = ids.size();
  try {
    encode_valid(text, ascii, ids);
  } catch (const Error&) {
    ids.resize(before);
    throw;
  }
}

void Encoder::encode(std::span<const TextPiece> pieces, std::vector<TokenId>& ids) {
  joined_.clear();
  const AddedToken* left = nullptr;  // the control token before the text that is being joined
  const auto finish_text = [&](const AddedToken* right) {
    const bool ascii = check_text(joined_);
    std::string_view text = joined_;
    if (left != nullptr && left->rstrip) text = strip_left(text);
    if (right != nullptr && right->lstrip) text = strip_right(text);
    encode_valid(text, ascii, ids);
    joined_.clear();
  };
  const std::size_t before = ids.size();
  try {
    for (const TextPiece& piece : pieces) {
      if (piece.control == TextPiece::kNoControl) {
        joined_ += piece.text;
        continue;
      }
      const AddedToken* token = tokenizer_.added_token(piece.control);
      if (token == nullptr) throw DataError("the id {} is not an added token", piece.control);
      finish_text(token);
      ids.push_back(piece.control);
      left = token;
    }
    finish_text(nullptr);
  } catch (const Error&) {
    ids.resize(before);
    throw;
  }
}

void Encoder::encode_valid(std::string_view text, bool ascii, std::vector<TokenId>& ids) {
  if (!tokenizer_.raw_matcher_.may_match(text)) return encode_section(text, ascii, ids);
  sections_.clear();
  tokenizer_.raw_matcher_.split(text, control_, sections_);
  for (const Section& section : sections_) {
    if (section.id == Section::kText) {
      encode_section(text.substr(section.begin, section.end - section.begin), ascii, ids);
    } else {
      ids.push_back(section.id);
    }
  }
}

void Encoder::encode_section(std::string_view text, bool ascii, std::vector<TokenId>& ids) {
  if (tokenizer_.parts_.normalize_nfc && !ascii) text = normalize_nfc(text, normalized_);
  if (tokenizer_.normalized_matcher_.is_empty()) return encode_words(text, ids);
  inner_sections_.clear();
  tokenizer_.normalized_matcher_.split(text, control_, inner_sections_);
  for (const Section& section : inner_sections_) {
    if (section.id == Section::kText) {
      encode_words(text.substr(section.begin, section.end - section.begin), ids);
    } else {
      ids.push_back(section.id);
    }
  }
}

void Encoder::encode_words(std::string_view text, std::vector<TokenId>& ids) {
  if (text.empty()) return;
  const std::string_view base = tokenizer_.parts_.pre_tokenizer.split(text, scratch_);
  const std::span<const Span> words = scratch_.words;
  for (std::size_t first = 0; first < words.size(); first += kWordsAhead) {
    const auto block = words.subspan(first, std::min(kWordsAhead, words.size() - first));
    look_ahead(base, block);
    encode_block(base, block, ids);
  }
}

// Prefetches the cache sets of the next words.
void Encoder::look_ahead(std::string_view base, std::span<const Span> block) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Span span = block[i];
    const std::size_t length = span.end - span.begin;
    if (length > WordCache::kShortWord) {
      ahead_[i] = {};
      continue;
    }
    ahead_[i].key = WordCache::short_key(base, span.begin, length);
    ahead_[i].set = cache_.set_of(ahead_[i].key);
    cache_.prefetch(ahead_[i].set);
  }
}

void Encoder::encode_block(std::string_view base, std::span<const Span> block,
                           std::vector<TokenId>& ids) {
  std::array<TokenId, kWordsAhead * WordCache::kShortTokens> known;
  TokenId* end = known.data();
  for (std::size_t i = 0; i < block.size(); ++i) {
    const WordCache::ShortEntry* entry = cache_.find(ahead_[i].key, ahead_[i].set);
    if (entry != nullptr && entry->count != 0) {
      // Always all of them: a copy of fixed size is two moves, one of `count` tokens a call.
      std::memcpy(end, entry->tokens.data(), sizeof(entry->tokens));
      end += entry->count;
      continue;
    }
    ids.insert(ids.end(), known.data(), end);
    end = known.data();
    const std::string_view word = block[i].of(base);
    const bool is_new = entry == nullptr && ahead_[i].key.is_word();
    const auto tokens = is_new ? new_short_word(word, ahead_[i]) : long_word(word);
    ids.insert(ids.end(), tokens.begin(), tokens.end());
  }
  ids.insert(ids.end(), known.data(), end);
}

std::span<const TokenId> Encoder::new_short_word(std::string_view word, const Ahead& ahead) {
  encode_new_word(word);
  if (new_tokens_.size() <= WordCache::kShortTokens) {
    cache_.put(ahead.key, ahead.set, new_tokens_);
  } else {
    cache_.put_long(word, WordCache::long_hash(word), new_tokens_);
    cache_.put(ahead.key, ahead.set, {});
  }
  return new_tokens_;
}

std::span<const TokenId> Encoder::long_word(std::string_view word) {
  const bool is_kept = word.size() <= WordCache::kLongestWord;
  const std::uint64_t hash = is_kept ? WordCache::long_hash(word) : 0;
  if (is_kept) {
    const std::span<const TokenId> known = cache_.find_long(word, hash);
    if (!known.empty()) return known;
  }
  encode_new_word(word);
  if (is_kept) cache_.put_long(word, hash, new_tokens_);
  return new_tokens_;
}

void Encoder::encode_new_word(std::string_view word) {
  new_tokens_.clear();
  if (tokenizer_.parts_.ignore_merges) {
    if (const auto id = tokenizer_.parts_.vocabulary.find(spell_bytes(word))) {
      new_tokens_.push_back(*id);
      return;
    }
  }
  bpe_.encode(word, new_tokens_);
}

}  // namespace odb
