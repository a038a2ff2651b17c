// The choices that decide how batches are formed, as plain values, and their validation.
//
// Everything here except the step length determines the sequence of slots: a saved position can be
// continued only with the same choices (options_fingerprint).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace odb {

enum class Strategy : std::uint8_t { odb, standard, sorted, bucket, gmt, bmt, packing };
// resolve() replaces `automatic`; later code never sees it.
enum class Layout : std::uint8_t { automatic, flat, padded };
enum class Grouping : std::uint8_t { automatic, greedy, fit };
enum class Align : std::uint8_t { paper, balanced };
enum class PairBy : std::uint8_t { cost, random };
enum class LossNorm : std::uint8_t { token, sample, rank_mean };

// The maxima of the option tables: lengths and counts of samples fit 32 bits, and values derived
// from other counts stay far from an overflow.
inline constexpr std::int64_t kMaxTokenCount = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kMaxCount = 1 << 20;

// Whether --l-max bounds the groups, instead of --batch-size.
bool keeps_budget(Strategy strategy);
// Whether all batches of an epoch are planned in advance, from known lengths.
bool plans_epoch(Strategy strategy);

const char* name(Strategy value);
const char* name(Layout value);
const char* name(Grouping value);
const char* name(Align value);
const char* name(PairBy value);
const char* name(LossNorm value);

struct BatchingOptions {
  Strategy strategy = Strategy::odb;        // --batching
  std::int64_t l_max = 8192;                // --l-max, tokens of a group
  Layout layout = Layout::automatic;        // --layout; auto: what the model prefers
  Grouping grouping = Grouping::automatic;  // --grouping; auto: flat fit, padded greedy
  Align align = Align::balanced;            // --align
  std::int64_t round_groups = 16;           // --round-groups, R: maximum slots per round
  PairBy pair_by = PairBy::cost;            // --pair-by
  bool join = true;               // --join: train every view; else stop at the first dry rank
  std::int64_t window = 1024;     // --window, samples
  std::int64_t pad_multiple = 8;  // --pad-multiple, padded rows have a multiple of this length
  std::int64_t batch_size = 8;    // --batch-size, samples; fixed-size strategies only
  std::int64_t bucket_pool_factor = 50;  // --bucket-pool-factor, in batches; bucket only
  double quadratic_cost = 0;             // q of cost = tokens + q * sum(length^2), from the model

  // Where a step ends: at most one is set; none: --accumulate 1.
  std::optional<std::int64_t> accumulate;            // --accumulate, micro-steps
  std::optional<std::int64_t> global_batch_tokens;   // --global-batch-tokens, real, over all ranks
  std::optional<std::int64_t> global_batch_samples;  // --global-batch-samples, over all ranks

  LossNorm loss_norm = LossNorm::token;  // --loss-norm
};

// Replaces "auto": `layout_of_model` is what the model prefers. UsageError: a grouping that the
// layout does not permit, or an invalid quadratic cost. The option table has checked the range of
// each single value. Rounds and sources take resolved options only.
BatchingOptions resolve(BatchingOptions options, Layout layout_of_model);

// The choices that determine the sequence of slots, as "l-max=8192 layout=flat ...", separated by
// one space. Equal texts: a saved position may be continued.
std::string options_fingerprint(const BatchingOptions& resolved);

}  // namespace odb
