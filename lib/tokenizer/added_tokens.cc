#include "tokenizer/added_tokens.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tokenizer/code_points.h"
#include "tokenizer/utf8.h"

namespace odb {

namespace {

bool has_class(std::uint32_t code_point, CodePointClass wanted) {
  return (code_point_table()[code_point] & wanted) != 0;
}

bool touches_word(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0 && has_class(read_code_point_before(text, begin).value, word)) return true;
  return end < text.size() && has_class(read_code_point(text.data() + end).value, word);
}

}  // namespace

std::string_view strip_left(std::string_view text) {
  while (!text.empty()) {
    const CodePoint first = read_code_point(text.data());
    if (!has_class(first.value, space)) break;
    text.remove_prefix(first.bytes);
  }
  return text;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    const CodePoint last = read_code_point_before(text, text.size());
    if (!has_class(last.value, space)) break;
    text.remove_suffix(last.bytes);
  }
  return text;
}

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens)
    : tokens_(std::move(tokens)), nodes_(1) {
  for (std::uint32_t index = 0; index < tokens_.size(); ++index) {
    std::uint32_t node = 0;
    for (const char character : tokens_[index].content) {
      const auto byte = static_cast<std::uint8_t>(character);
      std::uint32_t next = child(node, byte);
      if (next == 0) {
        next = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({.sibling = nodes_[node].first_child, .byte = byte});
        nodes_[node].first_child = next;
      }
      node = next;
    }
    if (node != 0 && nodes_[node].token == kNoToken) nodes_[node].token = index;
  }
  for (std::uint32_t first = nodes_[0].first_child; first != 0; first = nodes_[first].sibling) {
    is_first_byte_[nodes_[first].byte] = true;
    if (first == nodes_[0].first_child && nodes_[first].sibling == 0) {
      only_first_byte_ = static_cast<char>(nodes_[first].byte);
    }
  }
}

std::uint32_t AddedTokenMatcher::child(std::uint32_t node, std::uint8_t byte) const {
  std::uint32_t at = nodes_[node].first_child;
  while (at != 0 && nodes_[at].byte != byte)
    at = nodes_[at].sibling;
  return at;
}

std::size_t AddedTokenMatcher::next_candidate(std::string_view text, std::size_t from) const {
  if (from >= text.size()) return text.size();
  if (only_first_byte_) {
    const void* found = std::memchr(text.data() + from, *only_first_byte_, text.size() - from);
    if (found == nullptr) return text.size();
    return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
  }
  while (from < text.size() && !is_first_byte_[static_cast<std::uint8_t>(text[from])])
    ++from;
  return from;
}

std::optional<AddedTokenMatcher::Found> AddedTokenMatcher::find(std::string_view text,
                                                                std::size_t from) const {
  for (std::size_t begin = next_candidate(text, from); begin < text.size();
       begin = next_candidate(text, begin + 1)) {
    Found longest{kNoToken, begin, begin};
    std::uint32_t node = 0;
    for (std::size_t at = begin; at < text.size(); ++at) {
      node = child(node, static_cast<std::uint8_t>(text[at]));
      if (node == 0) break;
      if (nodes_[node].token != kNoToken) longest = {nodes_[node].token, begin, at + 1};
    }
    if (longest.token != kNoToken) return longest;
  }
  return std::nullopt;
}

void AddedTokenMatcher::split(std::string_view text, ControlTokens control,
                              std::vector<Section>& out) const {
  std::size_t done = 0;
  std::optional<Found> found;
  for (std::size_t from = 0; (found = find(text, from)); from = found->end) {
    const AddedToken& token = tokens_[found->token];
    // White space that the previous token has stripped does not match again.
    if (found->begin < done) continue;
    if (token.special && control == ControlTokens::plain) continue;
    if (token.single_word && touches_word(text, found->begin, found->end)) continue;
    std::size_t begin = found->begin;
    std::size_t end = found->end;
    if (token.lstrip) begin = std::max(done, strip_right(text.substr(0, begin)).size());
    if (token.rstrip) end = text.size() - strip_left(text.substr(end)).size();
    if (done < begin) out.push_back({Section::kText, done, begin});
    out.push_back({token.id, begin, end});
    done = end;
  }
  if (done < text.size()) out.push_back({Section::kText, done, text.size()});
}

}  // namespace odb
