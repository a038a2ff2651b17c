#include "data/sample/labels.h"

#include <algorithm>

#include "base/error.h"
#include "base/ignore_index.h"

namespace odb {

bool Labeller::is_trained(const Piece& piece, const Rendering& rendering) const {
  switch (train_on_) {
    case TrainOn::all:
      return true;
    case TrainOn::answers:
      return piece.answer != kNoAnswer;
    case TrainOn::last_answer:
      return piece.answer != kNoAnswer && piece.answer + 1 == rendering.answers();
  }
  return false;
}

bool Labeller::trains_any_of(const Rendering& rendering) const {
  return std::any_of(rendering.pieces().begin(), rendering.pieces().end(),
                     [&](const Piece& piece) { return is_trained(piece, rendering); });
}

void Labeller::add_label(TokenId token, bool trained, Sample& sample) const {
  const bool supervised = trained && !sample.labels.empty();
  sample.labels.push_back(supervised ? token : kIgnoreIndex);
  sample.supervised += supervised ? 1 : 0;
}

void Labeller::label(const Rendering& rendering, std::int64_t enough, Sample& sample) {
  sample.tokens.clear();
  sample.labels.clear();
  sample.supervised = 0;
  sample.truncated = false;
  const std::vector<Piece>& pieces = rendering.pieces();
  for (std::size_t i = 0; i < pieces.size();) {
    if (enough > 0 && static_cast<std::int64_t>(sample.tokens.size()) >= enough) return;
    std::size_t next = i;
    while (next < pieces.size() && pieces[next].is_text())
      ++next;
    if (next > i) {
      add_texts(rendering, i, next, sample);
      i = next;
      continue;
    }
    sample.tokens.push_back(pieces[i].control);
    add_label(pieces[i].control, is_trained(pieces[i], rendering), sample);
    ++i;
  }
}

void Labeller::add_text(const Rendering& rendering, const Piece& piece, Sample& sample) {
  const std::size_t before = sample.tokens.size();
  encoder_.encode(std::string_view(rendering.text()).substr(piece.begin, piece.end - piece.begin),
                  sample.tokens);
  const bool trained = is_trained(piece, rendering);
  for (std::size_t i = before; i < sample.tokens.size(); ++i)
    add_label(sample.tokens[i], trained, sample);
}

// Text pieces [first, last), which lie next to each other.
void Labeller::add_texts(const Rendering& rendering, std::size_t first, std::size_t last,
                         Sample& sample) {
  const std::vector<Piece>& pieces = rendering.pieces();
  if (last - first == 1) return add_text(rendering, pieces[first], sample);
  const std::uint32_t begin = pieces[first].begin;
  borders_.clear();
  for (std::size_t i = first; i < last; ++i)
    borders_.push_back(pieces[i].end - begin);
  ends_.clear();
  const std::size_t before = sample.tokens.size();
  encoder_.encode_between(
      std::string_view(rendering.text()).substr(begin, pieces[last - 1].end - begin), borders_,
      sample.tokens, ends_);
  ODB_CHECK_EQ(ends_.size(), sample.tokens.size() - before);
  std::size_t piece = 0;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    // All pieces with bytes in this token: from the one where it begins to the one where it ends.
    bool trained = is_trained(pieces[first + piece], rendering);
    while (piece + 1 < borders_.size() && borders_[piece] < ends_[i])
      trained = is_trained(pieces[first + ++piece], rendering) || trained;
    add_label(sample.tokens[before + i], trained, sample);
    if (piece + 1 < borders_.size() && borders_[piece] == ends_[i]) ++piece;
  }
}

}  // namespace odb
