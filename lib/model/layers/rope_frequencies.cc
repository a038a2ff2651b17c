#include "model/layers/rope_frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace odb {
namespace {

using std::numbers::pi;

// Wave lengths beyond low are stretched, those below high are kept, those between are blended.
double llama3_frequency(const RopeConfig& rope, double plain) {
  const auto length = static_cast<double>(rope.original_length);
  const double wave_length = 2 * pi / plain;
  if (wave_length < length / rope.high_frequency_factor) return plain;
  if (wave_length > length / rope.low_frequency_factor) return plain / rope.factor;
  const double smooth = (length / wave_length - rope.low_frequency_factor) /
                        (rope.high_frequency_factor - rope.low_frequency_factor);
  return (1 - smooth) * plain / rope.factor + smooth * plain;
}

// The pairs between which YaRN changes from keeping to stretching.
struct YarnRange {
  double low;
  double high;
};

YarnRange yarn_range(const RopeConfig& rope, double size) {
  const auto pair_with = [&](double rotations) {
    return size * std::log(static_cast<double>(rope.original_length) / (rotations * 2 * pi)) /
           (2 * std::log(rope.theta));
  };
  double low = pair_with(rope.fast_rotations);
  double high = pair_with(rope.slow_rotations);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, size - 1);
  if (low == high) high += 0.001;
  return {low, high};
}

double yarn_frequency(const RopeConfig& rope, const YarnRange& range, double pair, double plain) {
  const double ramp = std::clamp((pair - range.low) / (range.high - range.low), 0.0, 1.0);
  return plain / rope.factor * ramp + plain * (1 - ramp);
}

double dynamic_theta(const RopeConfig& rope, double size, std::int64_t row_length) {
  const auto original = static_cast<double>(rope.original_length);
  const double length = std::max(static_cast<double>(row_length), original);
  if (size <= 2) return rope.theta;  // a single pair: its exponent is 0 whatever the base
  return rope.theta *
         std::pow(rope.factor * length / original - (rope.factor - 1), size / (size - 2));
}

}  // namespace

bool rope_depends_on_length(const ModelConfig& config, std::int64_t row_length) {
  return config.rope.type == RopeType::dynamic && row_length > config.rope.original_length;
}

std::vector<float> rope_frequencies(const ModelConfig& config, std::int64_t row_length) {
  const RopeConfig& rope = config.rope;
  const auto size = static_cast<double>(config.head_size);
  const double theta =
      rope.type == RopeType::dynamic ? dynamic_theta(rope, size, row_length) : rope.theta;
  const YarnRange range = rope.type == RopeType::yarn ? yarn_range(rope, size) : YarnRange{};
  std::vector<float> frequencies;
  for (std::int64_t pair = 0; pair < config.head_size / 2; ++pair) {
    double frequency = std::pow(theta, -2.0 * static_cast<double>(pair) / size);
    if (rope.type == RopeType::linear) frequency /= rope.factor;
    if (rope.type == RopeType::llama3) frequency = llama3_frequency(rope, frequency);
    if (rope.type == RopeType::yarn)
      frequency = yarn_frequency(rope, range, static_cast<double>(pair), frequency);
    frequencies.push_back(static_cast<float>(frequency));
  }
  return frequencies;
}

}  // namespace odb
