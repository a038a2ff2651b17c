// The batching options as entries of a command's option table: names, units, ranges, help. Each is
// declared once, for single values and for the lists of a command that compares strategies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options/choices.h"
#include "base/options/table.h"
#include "batching/options.h"

namespace odb {

// A count, at least 1.
struct CountOption {
  const char* name;
  const char* unit;
  std::int64_t most;
  const char* help;
};

inline constexpr CountOption kLMaxOption{
    "l-max", "tokens", kMaxTokenCount,
    "token budget of a micro-batch; a longer sample is a micro-batch of its own"};
inline constexpr CountOption kWindowOption{"window", "samples", kMaxTokenCount,
                                           "samples that a rank buffers to form groups from"};
inline constexpr CountOption kPadMultipleOption{"pad-multiple", "tokens", kMaxCount,
                                                "padded rows have a multiple of this length"};
inline constexpr CountOption kRoundGroupsOption{"round-groups", "groups", kMaxCount,
                                                "maximum groups that a rank emits per round"};
inline constexpr CountOption kBatchSizeOption{"batch-size", "samples", kMaxCount,
                                              "samples per batch for standard, sorted and bucket"};
inline constexpr CountOption kBucketPoolFactorOption{
    "bucket-pool-factor", "batches", kMaxCount, "size of the pool that bucket sorts by length"};

// `variable`: an int64_t, or a vector of them.
template <typename V>
void add_count(OptionTable& table, const CountOption& option, V& variable) {
  table.add(option.name, variable)
      .unit(option.unit)
      .at_least(1)
      .at_most(option.most)
      .help(option.help);
}

// `variable`: a Strategy, or a vector of them.
template <typename V>
OptionTable::Declaration<V> add_strategy(OptionTable& table, V& variable) {
  return table
      .add("batching", variable,
           named({Strategy::odb, Strategy::standard, Strategy::sorted, Strategy::bucket,
                  Strategy::gmt, Strategy::bmt, Strategy::packing}))
      .help("how batches are formed; all but odb and standard read every length before training");
}

OptionDeclaration<Layout> add_layout(OptionTable& table, Layout& layout);
void add_grouping(OptionTable& table, Grouping& grouping);
void add_align(OptionTable& table, Align& align);
void add_pair_by(OptionTable& table, PairBy& pair_by);
void add_join(OptionTable& table, bool& join);

// Declares every option of `options`, which must outlive `table`. resolve() checks what depends on
// several options.
void describe(OptionTable& table, BatchingOptions& options);

// UsageError for an option of the group that the strategy does not use: given as a flag among
// `arguments`, or with another value than its default. (A printed config holds all defaults.)
void refuse_unused(const BatchingOptions& options, const std::vector<std::string>& arguments);

}  // namespace odb
