// Lengths to simulate with: named distributions and texts that list lengths.
//
//   chat             412 e^(1.25 z)      sharegpt-like    900 e^(0.9 z)     (z standard normal;
//   caption          560 e^(0.45 z)      ultrachat-like  1150 e^(0.5 z)     rounded, then clipped
//   mix              90 %: 160 e^(0.25 z), 10 %: 400 e^(0.4 z)              to 16..8,192)
//
// Sample i of a distribution depends only on (name, seed, i), so more samples do not change it. z
// is the first normal number of stream i of RandomPurpose::lengths; mix first draws the uniform
// number that picks its component.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace odb {

// Batch planning numbers samples with 32 bits.
inline constexpr std::int64_t kMaxSamples = (std::int64_t{1} << 32) - 2;

// The names above, in that order.
std::vector<std::string> length_distributions();
bool is_length_distribution(std::string_view name);

// UsageError: an unknown name, or `samples` is not in 1 to 2^32 - 2.
std::vector<std::int32_t> named_lengths(std::string_view name, std::int64_t samples,
                                        std::uint64_t seed);

// Reads lengths from a text, with or without a byte order mark: one integer per line (blank lines
// are skipped), or JSON, which begins with a bracket: a list of integers, or an object with such a
// list as "lengths". `where` names the text in messages. DataError names the line or the list
// index: not an integer, below 1, above 2^31 - 1; also thrown if there are no lengths.
std::vector<std::int32_t> parse_lengths(std::string_view text, const std::string& where);

}  // namespace odb
