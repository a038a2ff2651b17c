// The tokenizer as a sample's TextEncoder.
#pragma once

#include <string>
#include <vector>

#include "data/sample/text_encoder.h"
#include "data/sample/token_bytes.h"
#include "tokenizer/encoder.h"
#include "tokenizer/nfc.h"

namespace odb {

// One per thread or process; `tokenizer` and `bytes` are shared and must outlive it.
class TokenizerText final : public TextEncoder {
 public:
  TokenizerText(const Tokenizer& tokenizer, const TokenBytes& bytes, EncoderOptions options = {})
      : encoder_(tokenizer, options), bytes_(bytes), normalizes_(tokenizer.normalizes_nfc()) {}

  void encode(std::string_view text, std::vector<TokenId>& ids) override {
    encoder_.encode(text, ids);
  }
  void encode_between(std::string_view text, std::vector<std::uint32_t>& borders,
                      std::vector<TokenId>& ids, std::vector<std::uint32_t>& ends) override;

 private:
  Encoder encoder_;
  const TokenBytes& bytes_;
  bool normalizes_;
  std::string normalized_;
  std::string normalized_part_;
};

}  // namespace odb
