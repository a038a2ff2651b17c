#include "batching/option_table.h"

namespace odb {
namespace {

void describe_groups(OptionTable& table, BatchingOptions& options) {
  table
      .add("batching", options.strategy,
           named({Strategy::odb, Strategy::standard, Strategy::sorted, Strategy::bucket,
                  Strategy::gmt, Strategy::bmt, Strategy::packing}))
      .help("how batches are formed; all but odb and standard read every length before training");
  table.add("l-max", options.l_max)
      .unit("tokens")
      .at_least(1)
      .at_most(kMostTokens)
      .help("token budget of a micro-batch; a single longer sample travels alone");
  table.add("layout", options.layout, named({Layout::automatic, Layout::flat, Layout::padded}))
      .help(
          "flat puts rows one after another, padded fills them up to the longest; auto is what "
          "the model prefers");
  table
      .add("grouping", options.grouping,
           named({Grouping::automatic, Grouping::greedy, Grouping::fit}))
      .help(
          "greedy batches neighbours in length, fit fills the budget in draw order; auto is fit "
          "for flat, greedy for padded");
  table.add("window", options.window)
      .unit("samples")
      .at_least(1)
      .at_most(kMostTokens)
      .help("samples that a rank holds to choose from");
  table.add("pad-multiple", options.pad_multiple)
      .unit("tokens")
      .at_least(1)
      .at_most(kMostCount)
      .help("padded rows are a multiple of this long");
}

void describe_ranks(OptionTable& table, BatchingOptions& options) {
  table.add("align", options.align, named({Align::balanced, Align::paper}))
      .help(
          "how many groups a round has: balanced takes what every rank has full, paper what the "
          "richest has and splits groups elsewhere");
  table.add("round-groups", options.round_groups)
      .unit("groups")
      .at_least(1)
      .at_most(kMostCount)
      .help("most groups that a rank emits in one round");
  table.add("mates", options.mates, named({Mates::cost, Mates::random}))
      .help("which groups share a step over ranks: those of like cost, or random ones");
  table.add("join", options.join)
      .help("on trains every sample of an epoch, off ends it when the first rank has none left");
}

void describe_fixed_sizes(OptionTable& table, BatchingOptions& options) {
  table.add("batch-size", options.batch_size)
      .unit("samples")
      .at_least(1)
      .at_most(kMostCount)
      .help("samples of a batch for standard, sorted and bucket");
  table.add("bucket-pool-factor", options.bucket_pool_factor)
      .unit("batches")
      .at_least(1)
      .at_most(kMostCount)
      .help("size of the pool that bucket sorts by length");
}

void describe_steps(OptionTable& table, BatchingOptions& options) {
  table.add("accumulate", options.accumulate)
      .unit("micro-steps")
      .at_least(1)
      .default_note("1 if no other step length is given")
      .help("micro-steps of an optimizer step");
  table.add("global-batch-tokens", options.global_batch_tokens)
      .unit("tokens")
      .at_least(1)
      .help("an optimizer step ends once all ranks together have this many tokens");
  table.add("global-batch-samples", options.global_batch_samples)
      .unit("samples")
      .at_least(1)
      .help("an optimizer step ends once all ranks together have this many samples");
  table.exclusive({"accumulate", "global-batch-tokens", "global-batch-samples"});
  table
      .add("loss-norm", options.loss_norm,
           named({LossNorm::token, LossNorm::sample, LossNorm::rank_mean}))
      .help("what counts the same in the mean loss of a step: every token, sample, or rank");
}

}  // namespace

void describe(OptionTable& table, BatchingOptions& options) {
  table.group("batching");
  describe_groups(table, options);
  describe_ranks(table, options);
  describe_fixed_sizes(table, options);
  describe_steps(table, options);
}

}  // namespace odb
