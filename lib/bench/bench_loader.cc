// bench loader: data files in, batches out, no model: how fast the data processes are, of one rank
// or of several in step.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options/command_line.h"
#include "base/progress_bar.h"
#include "base/real_file_system.h"
#include "batching/option_table.h"
#include "bench/benchmarks.h"
#include "bench/loader_run.h"
#include "bench/local_ranks.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

void describe(OptionTable& table, BenchLoaderOptions& options) {
  describe(table, options.data);
  table.require({"data", "tokenizer"});
  describe(table, options.loader);
  describe(table, options.batching);
  describe(table, options.ranks);
  table.group("bench loader");
  table.add("epochs", options.epochs)
      .at_least(1)
      .default_note("1 if no other limit is given")
      .help("epochs to read");
  table.add("max-tokens", options.max_tokens)
      .unit("tokens")
      .at_least(1)
      .help("stop after this many tokens");
  table.add("nproc", options.nproc)
      .at_least(1)
      .at_most(kMaxLocalRanks)
      .help("ranks on this machine, kept in step over Gloo");
  table.add("timeout", options.timeout)
      .at_least(std::chrono::seconds(1))
      .help("silence after which a rank counts as lost, a data process is replaced");
  table.add_switch("json", options.json).help("print one JSON object");
}

double idle_fraction(const Measured& measured) {
  const PipelineStatistics& sums = measured.figures.statistics;
  const std::int64_t slots = sums.slots * measured.ranks;
  return slots == 0 ? 0 : static_cast<double>(sums.idle_slots) / static_cast<double>(slots);
}

// Of the rank that waited the least for others.
double align_milliseconds(const PipelineStatistics& sums) {
  return 1e3 * sums.aligning_seconds /
         static_cast<double>(std::max<std::int64_t>(sums.aligned_rounds, 1));
}

nlohmann::ordered_json as_json(const Measured& measured, const BatchingOptions& batching) {
  const PipelineStatistics& sums = measured.figures.statistics;
  const auto per_second = [&](std::int64_t count) {
    return static_cast<double>(count) / measured.figures.seconds;
  };
  nlohmann::ordered_json result{{"samples_per_second", per_second(sums.samples)},
                                {"tokens_per_second", per_second(sums.tokens)},
                                {"padding_fraction", sums.padding_fraction()},
                                {"budget_fill", sums.budget_fill(batching.l_max)},
                                {"data_wait_seconds", sums.wait_seconds},
                                {"mean_queue", sums.mean_queue()},
                                {"seconds", measured.figures.seconds},
                                {"first_batch_seconds", measured.figures.first_batch_seconds},
                                {"samples", sums.samples},
                                {"tokens", sums.tokens},
                                {"supervised_tokens", sums.supervised},
                                {"positions", sums.padded_tokens},
                                {"left_out_views", sums.left_out},
                                {"slots", sums.slots},
                                {"idle_slots", sums.idle_slots},
                                {"rounds", sums.rounds},
                                {"deaths", sums.deaths},
                                {"nproc", measured.ranks},
                                {"idle_fraction", idle_fraction(measured)},
                                {"align_milliseconds_per_round", align_milliseconds(sums)},
                                {"shared_bytes_at_most", measured.shared_bytes},
                                {"processes", nlohmann::ordered_json::array()}};
  for (const ProcessUse& use : measured.processes)
    result["processes"].push_back({{"role", use.role},
                                   {"processor_seconds", use.processor_seconds},
                                   {"private_bytes", use.private_bytes}});
  return result;
}

std::string as_text(const Measured& measured, const BatchingOptions& batching) {
  const PipelineStatistics& sums = measured.figures.statistics;
  std::string text = fmt::format(
      "{} samples, {} tokens in {} micro-batches of {} rounds, {:.2f} s (first one after {:.2f} "
      "s)\n"
      "{:.0f} samples/s, {:.2f} M tokens/s; padding {:.1f} %, budget fill {:.1f} %, {} rows left "
      "out\n"
      "waited {:.2f} s, {:.1f} micro-batches ready on average; shared memory at most {} a rank\n"
      "ranks: {}, {:.1f} % of their slots idle, {:.2f} ms for a round's alignment\n",
      sums.samples, sums.tokens, sums.slots, sums.rounds, measured.figures.seconds,
      measured.figures.first_batch_seconds,
      static_cast<double>(sums.samples) / measured.figures.seconds,
      static_cast<double>(sums.tokens) / measured.figures.seconds / 1e6,
      100 * sums.padding_fraction(), 100 * sums.budget_fill(batching.l_max), sums.left_out,
      sums.wait_seconds, sums.mean_queue(), format_bytes(measured.shared_bytes), measured.ranks,
      100 * idle_fraction(measured), align_milliseconds(sums));
  for (const ProcessUse& use : measured.processes)
    text += fmt::format("  {:<12} {:6.2f} s of processor time, {} private\n", use.role,
                        use.processor_seconds, format_bytes(use.private_bytes));
  return text;
}

}  // namespace

int bench_loader(const Arguments& arguments) {
  const auto entry = Clock::now();
  BenchLoaderOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{
      .name = "bench loader",
      .summary =
          "Runs the data processes of one rank, or of several in step, without a model, and takes "
          "every micro-batch as soon as it is ready: how fast samples are built and batched, how "
          "much is padded, and what each process takes.",
      .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;
  start_log({.role = "loader"});

  RealFileSystem files;
  const SampleSource source(files, options.data, options.loader.seed,
                            {.progress = terminal_progress("indexing")});
  source.preprocessor().log_choices();
  const Measured measured = run_loader(options, source, entry);
  if (measured.figures.statistics.samples == 0)
    throw DataError(
        "no sample can be trained: all {} rows are left out; see odb-trainer inspect data for the "
        "reasons",
        measured.figures.statistics.left_out);
  if (options.json)
    fmt::print("{}\n", as_json(measured, options.batching).dump());
  else
    fmt::print("{}", as_text(measured, options.batching));
  return 0;
}

}  // namespace odb
