// A rendering -> ids and labels.
//
// Texts between two control tokens are encoded as one, as the families' own tooling does, wherever
// an answer begins or ends inside: merging may join the last byte before a border and the first one
// behind it into one token. The rule then: a token is supervised if at least one of its bytes is.
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

  // Replaces `sample`. Stops encoding once `enough` tokens are there (0: never): the tokens it has
  // by then are the first ones of the whole. Does not cut; `supervised` counts what is there.
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
