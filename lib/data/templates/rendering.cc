#include "data/templates/rendering.h"

#include <limits>

#include "base/error.h"

namespace odb {

void Rendering::add_text(std::string_view text) {
  if (text.empty()) return;
  if (text_.size() + text.size() > std::numeric_limits<std::uint32_t>::max())
    throw DataError("found a conversation of more than 4 GiB");
  const auto begin = static_cast<std::uint32_t>(text_.size());
  text_ += text;
  const auto end = static_cast<std::uint32_t>(text_.size());
  if (!pieces_.empty() && pieces_.back().is_text() && pieces_.back().answer == answer_)
    pieces_.back().end = end;
  else
    pieces_.push_back({.begin = begin, .end = end, .answer = answer_});
}

void Rendering::add_control(TokenId token) {
  const auto at = static_cast<std::uint32_t>(text_.size());
  pieces_.push_back({.begin = at, .end = at, .control = token, .answer = answer_});
}

void Rendering::open_answer(bool supervised) {
  answer_ = supervised ? answers_ : kNoAnswer;
  ++answers_;
}

void Rendering::clear() {
  text_.clear();
  pieces_.clear();
  answer_ = kNoAnswer;
  answers_ = 0;
}

}  // namespace odb
