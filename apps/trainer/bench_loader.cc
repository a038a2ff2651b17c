// bench loader: data files in, batches out, no model: how fast the data processes of one rank are.
#include <chrono>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options/command_line.h"
#include "base/real_file_system.h"
#include "base/signals.h"
#include "batching/option_table.h"
#include "bench_commands.h"
#include "data/inspect/progress_bar.h"
#include "data/processes/data_processes.h"
#include "data/processes/record_lane.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchLoaderOptions {
  DataOptions data;
  BatchingOptions batching;
  LoaderOptions loader;
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> max_tokens;
  bool json = false;
};

void describe(OptionTable& table, BenchLoaderOptions& options) {
  describe(table, options.data);
  describe(table, options.loader);
  describe(table, options.batching);
  table.group("bench loader");
  table.add("epochs", options.epochs)
      .at_least(1)
      .default_note("1 if no other limit is given")
      .help("epochs to go through");
  table.add("max-tokens", options.max_tokens)
      .unit("tokens")
      .at_least(1)
      .help("end once so many tokens have come");
  table.add_switch("json", options.json).help("print one JSON object");
}

struct Measured {
  double first_batch_seconds = 0;  // from the entry of this command
  double seconds = 0;              // from the start of the first epoch
  std::size_t shared_bytes = 0;
  PipelineStatistics statistics;
  std::vector<ProcessUse> processes;
};

void throw_if_stopped() {
  if (stop_state().stop())
    throw Error(ExitCode::interrupted, fmt::format("stopped by {}", to_text(stop_state().reason)));
}

// The next slot; a stop is heard while it is waited for, and between two slots.
BatchView await_slot(Pipeline& pipeline) {
  for (;;) {
    throw_if_stopped();
    if (const auto batch = pipeline.next(std::chrono::milliseconds(100))) return *batch;
  }
}

// Goes through the epochs, and gives every slot back as it comes.
void drain(Pipeline& pipeline, const BenchLoaderOptions& options, std::int64_t epochs,
           const std::function<void()>& on_first) {
  for (bool first = true;; first = false) {
    const BatchView batch = await_slot(pipeline);
    if (first) on_first();
    pipeline.release();
    const bool last = batch.header.kind == SlotKind::end && batch.header.epoch + 1 == epochs;
    if (last || (options.max_tokens && pipeline.statistics().tokens >= *options.max_tokens)) return;
  }
}

Measured measure(const BenchLoaderOptions& options, const SampleSource& source,
                 Clock::time_point entry) {
  const auto seconds_since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const BatchingOptions batching = resolve(options.batching, Layout::flat);
  LaneSetup setup = record_lane(source, batching, options.loader, 0, 1);
  setup.epochs = options.epochs.value_or(options.max_tokens ? std::int64_t{1} << 40 : 1);
  Measured measured{.shared_bytes = shared_bytes(setup)};
  const ScopedStopSignals signals;
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  const auto begin = Clock::now();
  PipelineStart start;
  start.state.start = start_of_epoch(setup.epoch(0), 0, 1);
  pipeline.start(start);
  drain(pipeline, options, setup.epochs,
        [&] { measured.first_batch_seconds = seconds_since(entry); });
  measured.seconds = seconds_since(begin);
  measured.statistics = pipeline.statistics();
  measured.processes = processes.use();
  return measured;
}

nlohmann::ordered_json as_json(const Measured& measured, const BatchingOptions& batching) {
  const PipelineStatistics& sums = measured.statistics;
  const auto per_second = [&](std::int64_t count) {
    return static_cast<double>(count) / measured.seconds;
  };
  nlohmann::ordered_json result{{"samples_per_second", per_second(sums.samples)},
                                {"tokens_per_second", per_second(sums.tokens)},
                                {"padding_fraction", sums.padding_fraction()},
                                {"budget_fill", sums.budget_fill(batching.l_max)},
                                {"data_wait_seconds", sums.wait_seconds},
                                {"mean_queue", sums.mean_queue()},
                                {"seconds", measured.seconds},
                                {"first_batch_seconds", measured.first_batch_seconds},
                                {"samples", sums.samples},
                                {"tokens", sums.tokens},
                                {"supervised_tokens", sums.supervised},
                                {"positions", sums.positions},
                                {"left_out_views", sums.left_out},
                                {"slots", sums.slots},
                                {"idle_slots", sums.idle_slots},
                                {"rounds", sums.rounds},
                                {"deaths", sums.deaths},
                                {"shared_bytes_at_most", measured.shared_bytes},
                                {"processes", nlohmann::ordered_json::array()}};
  for (const ProcessUse& use : measured.processes)
    result["processes"].push_back({{"role", use.role},
                                   {"processor_seconds", use.processor_seconds},
                                   {"private_bytes", use.private_bytes}});
  return result;
}

std::string as_text(const Measured& measured, const BatchingOptions& batching) {
  const PipelineStatistics& sums = measured.statistics;
  std::string text = fmt::format(
      "{} samples, {} tokens in {} micro-batches of {} rounds, {:.2f} s (first one after {:.2f} "
      "s)\n"
      "{:.0f} samples/s, {:.2f} M tokens/s; padding {:.1f} %, budget fill {:.1f} %, {} rows left "
      "out\n"
      "waited {:.2f} s, {:.1f} micro-batches ready on average; shared memory at most {}\n",
      sums.samples, sums.tokens, sums.slots, sums.rounds, measured.seconds,
      measured.first_batch_seconds, static_cast<double>(sums.samples) / measured.seconds,
      static_cast<double>(sums.tokens) / measured.seconds / 1e6, 100 * sums.padding_fraction(),
      100 * sums.budget_fill(batching.l_max), sums.left_out, sums.wait_seconds, sums.mean_queue(),
      format_bytes(measured.shared_bytes));
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
          "Runs the data processes of one rank without a model behind them and takes every "
          "micro-batch as soon as it is there: how fast samples are made and batched, what is "
          "padded, and what each process takes.",
      .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;
  if (options.data.data.empty()) throw UsageError("--data is missing; wanted at least one file");
  start_log({.role = "loader"});

  RealFileSystem files;
  const SampleSource source(files, options.data, options.loader.seed,
                            {.progress = terminal_progress("indexing")});
  const Measured measured = measure(options, source, entry);
  if (options.json)
    fmt::print("{}\n", as_json(measured, options.batching).dump());
  else
    fmt::print("{}", as_text(measured, options.batching));
  return 0;
}

}  // namespace odb
