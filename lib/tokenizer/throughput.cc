#include "tokenizer/throughput.h"

#include <chrono>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/percentile.h"
#include "tokenizer/encoder.h"

namespace odb {

namespace {

template <typename Action>
double seconds_of(const Action& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TokenizerThroughput measure_throughput(const Tokenizer& tokenizer,
                                       std::span<const std::string> texts, int rounds) {
  ODB_CHECK(rounds > 0 && rounds % 2 == 1, "{} rounds", rounds);
  TokenizerThroughput result{.texts = texts.size()};
  for (const std::string& text : texts)
    result.bytes += text.size();
  std::vector<double> cold;
  std::vector<double> warm;
  std::vector<TokenId> ids;
  for (int round = 0; round < rounds; ++round) {
    std::optional<Encoder> encoder;
    const auto encode_all = [&] {
      result.tokens = 0;
      for (const std::string& text : texts) {
        ids.clear();
        encoder->encode(text, ids);
        result.tokens += ids.size();
      }
    };
    cold.push_back(seconds_of([&] {
      encoder.emplace(tokenizer);
      encode_all();
    }));
    warm.push_back(seconds_of(encode_all));
  }
  result.cold_seconds = median(std::move(cold));
  result.warm_seconds = median(std::move(warm));
  return result;
}

}  // namespace odb
