#include "batching/option_table.h"

#include <algorithm>

#include "base/error.h"

namespace odb {
namespace {

void describe_steps(OptionTable& table, BatchingOptions& options) {
  table.add("accumulate", options.accumulate)
      .unit("micro-steps")
      .at_least(1)
      .default_note("1 if no other step length is given")
      .help("micro-steps per optimizer step");
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
      .help("what has equal weight in the mean loss of a step: every token, sample, or rank");
}

bool is_flag_given(const std::string& name, const std::vector<std::string>& arguments) {
  const std::string flag = "--" + name;
  return std::ranges::any_of(arguments, [&](const std::string& argument) {
    return argument == flag || argument.starts_with(flag + "=");
  });
}

}  // namespace

OptionDeclaration<Layout> add_layout(OptionTable& table, Layout& layout) {
  return table.add("layout", layout, named({Layout::automatic, Layout::flat, Layout::padded}))
      .help(
          "flat concatenates rows, padded pads them to the longest; auto takes what the model "
          "prefers");
}

void add_grouping(OptionTable& table, Grouping& grouping) {
  table.add("grouping", grouping, named({Grouping::automatic, Grouping::greedy, Grouping::fit}))
      .help(
          "greedy batches samples of similar length, fit fills the budget in draw order; auto is "
          "fit for flat, greedy for padded");
}

void add_align(OptionTable& table, Align& align) {
  table.add("align", align, named({Align::balanced, Align::paper}))
      .help(
          "groups per round: balanced takes the minimum of full groups over ranks, paper the "
          "maximum and splits groups on the other ranks");
}

void add_pair_by(OptionTable& table, PairBy& pair_by) {
  table.add("pair-by", pair_by, named({PairBy::cost, PairBy::random}))
      .formerly("mates")
      .help("which groups of the ranks share a slot: those of similar cost, or random ones");
}

void add_join(OptionTable& table, bool& join) {
  table.add("join", join)
      .help("on trains every sample of an epoch, off ends it when the first rank is out of data");
}

void describe(OptionTable& table, BatchingOptions& options) {
  table.group("batching");
  add_strategy(table, options.strategy);
  add_count(table, kLMaxOption, options.l_max);
  add_layout(table, options.layout);
  add_grouping(table, options.grouping);
  add_count(table, kWindowOption, options.window);
  add_count(table, kPadMultipleOption, options.pad_multiple);
  add_align(table, options.align);
  add_count(table, kRoundGroupsOption, options.round_groups);
  add_pair_by(table, options.pair_by);
  add_join(table, options.join);
  add_count(table, kBatchSizeOption, options.batch_size);
  add_count(table, kBucketPoolFactorOption, options.bucket_pool_factor);
  describe_steps(table, options);
}

void refuse_unused(const BatchingOptions& options, const std::vector<std::string>& arguments) {
  const BatchingOptions defaults;
  if (keeps_budget(options.strategy) && (options.batch_size != defaults.batch_size ||
                                         is_flag_given(kBatchSizeOption.name, arguments)))
    throw UsageError(
        "--batch-size {} has no effect with --batching {}, whose micro-batches have up to --l-max "
        "tokens; give --l-max, or --batching standard, sorted or bucket",
        options.batch_size, name(options.strategy));
  if (options.strategy != Strategy::bucket &&
      (options.bucket_pool_factor != defaults.bucket_pool_factor ||
       is_flag_given(kBucketPoolFactorOption.name, arguments)))
    throw UsageError(
        "--bucket-pool-factor {} has no effect with --batching {}; it is for --batching bucket",
        options.bucket_pool_factor, name(options.strategy));
}

}  // namespace odb
