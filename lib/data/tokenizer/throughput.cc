#include "data/tokenizer/throughput.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "data/tokenizer/encoder.h"

namespace odb {

namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

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

std::int64_t private_memory_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::int64_t kilobytes = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Private_Dirty:")) kilobytes = std::stoll(line.substr(line.find(':') + 1));
  }
  if (kilobytes == 0) throw FileError("/proc/self/smaps_rollup tells no private memory");
  return kilobytes * 1024;
}

}  // namespace odb
