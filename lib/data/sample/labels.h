// A rendering -> ids and labels.
//
// All text between two control tokens is encoded as one, as the families' own tools do, even if an
// answer begins or ends inside it. A merge may then join the last byte before such a border and the
// first byte after it into one token: a token is supervised if at least one of its bytes is.
#pragma once

#include <cstdint>
#include <vector>

#include "data/sample/sample.h"
#include "data/sample/text_encoder.h"
#include "data/templates/rendering.h"

namespace odb {

class Labeller {
 public:
  // `encoder` must outlive it.
  Labeller(TextEncoder& encoder, TrainOn train_on) : encoder_(encoder), train_on_(train_on) {}

  // Replaces `sample`. Stops encoding once there are `enough` tokens (0: never); the tokens are
  // then a prefix of the full result. Does not cut; `supervised` counts the tokens present.
  void label(const Rendering& rendering, std::int64_t enough, Sample& sample);

  // Whether any piece is to be supervised.
  bool trains_any_of(const Rendering& rendering) const;

 private:
  bool is_trained(const Piece& piece, const Rendering& rendering) const;
  void add_text(const Rendering& rendering, const Piece& piece, Sample& sample);
  void add_texts(const Rendering& rendering, std::size_t first, std::size_t last, Sample& sample);
  void add_label(TokenId token, bool trained, Sample& sample) const;

  TextEncoder& encoder_;
  TrainOn train_on_;
  std::vector<std::uint32_t> ends_;     // of tokens
  std::vector<std::uint32_t> borders_;  // of pieces
};

}  // namespace odb
