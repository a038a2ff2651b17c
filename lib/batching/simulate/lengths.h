// Lengths to simulate with: named distributions and texts that list lengths.
//
//   chat             412 e^(1.25 z)      sharegpt-like    900 e^(0.9 z)     (z standard normal;
//   caption          560 e^(0.45 z)      ultrachat-like  1150 e^(0.5 z)     rounded, then clipped
//   mix              90 %: 160 e^(0.25 z), 10 %: 400 e^(0.4 z)              to 16..8,192)
//
// Sample i of a distribution is a function of (name, seed, i) alone: asking for more samples
// changes none. z is the first normal number of stream i of RandomPurpose::lengths; mix draws the
// uniform number that picks its part before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace odb {

// Samples are numbered in 32 bits where batches are planned.
inline constexpr std::int64_t kMostSamples = (std::int64_t{1} << 32) - 2;

// The names above, in that order.
std::vector<std::string> length_distributions();
bool is_length_distribution(std::string_view name);

// UsageError: an unknown name, or not 1 to 2^32 - 2 samples.
std::vector<std::int32_t> named_lengths(std::string_view name, std::int64_t samples,
                                        std::uint64_t seed);

// Lengths from a text, with or without a byte order mark: one whole number a line (blank lines are
// skipped), or JSON, which begins with a bracket: a list of numbers, or an object with such a list
// as "lengths". `where` names the text in messages. DataError, with line or place in the list: not
// a number, below 1, above 2^31 - 1; or no lengths at all.
std::vector<std::int32_t> parse_lengths(std::string_view text, const std::string& where);

}  // namespace odb
