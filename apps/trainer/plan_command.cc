// plan: compares batching strategies on simulated ranks, as a table or JSON and as a plot.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/machine.h"
#include "base/options/command_line.h"
#include "base/read_text.h"
#include "base/real_file_system.h"
#include "commands.h"
#include "plan/lengths.h"
#include "plan/plan.h"
#include "plan/plan_options.h"
#include "plan/plan_plot.h"
#include "plan/plan_report.h"

namespace odb {
namespace {

LengthTable shared(std::vector<std::int32_t> lengths) {
  return std::make_shared<const std::vector<std::int32_t>>(std::move(lengths));
}

LengthTable file_lengths(const PlanOptions& options) {
  constexpr std::size_t kLargestFile = std::size_t{1} << 30;
  std::error_code read_from_system;
  if (std::filesystem::status(options.lengths, read_from_system).type() ==
      std::filesystem::file_type::not_found)
    throw UsageError("--lengths {}: no such file or distribution; distributions: {}",
                     options.lengths, fmt::join(length_distributions(), ", "));
  std::vector<std::int32_t> lengths =
      parse_lengths(read_text("--lengths", options.lengths, kLargestFile), options.lengths);
  const auto found = static_cast<std::int64_t>(lengths.size());
  if (options.samples.value_or(found) > found)
    throw UsageError("--samples {}: {} holds {} lengths", *options.samples, options.lengths, found);
  lengths.resize(static_cast<std::size_t>(options.samples.value_or(found)));
  return shared(std::move(lengths));
}

// Refuses what would be killed for lack of memory.
void check_memory(const PlanOptions& options, std::int64_t samples) {
  RealFileSystem files;
  const MemoryFacts memory = read_memory(files);
  const std::uint64_t needed = memory_needed(options, samples);
  if (memory.total > 0 && needed > usable_memory(memory))
    throw UsageError(
        "--samples {}: they take {} of memory, {} can be used; expected fewer samples (--batching "
        "odb and standard take the least)",
        samples, format_bytes(needed), format_bytes(usable_memory(memory)));
}

// A distribution grows with the number of ranks unless --samples says how many.
LengthsFor lengths_source(const PlanOptions& options) {
  if (is_length_distribution(options.lengths))
    return [&options](std::int64_t ranks) {
      const std::int64_t samples = options.samples.value_or(kSamplesPerRank * ranks);
      check_memory(options, samples);
      return shared(named_lengths(options.lengths, samples, options.seed));
    };
  return [lengths = file_lengths(options)](std::int64_t) { return lengths; };
}

// A line that is overwritten again and again, for a person who waits.
void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO) != 0) std::fputs(("\r\x1b[K" + text).c_str(), stderr);
}

}  // namespace

int plan_command(const Arguments& arguments) {
  PlanOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{
      .name = "plan",
      .summary =
          "Simulates an epoch of each batching strategy over lengths from a file or a "
          "distribution and compares steps, padding, waiting and predicted time. The "
          "simulation runs the same code that forms the batches of a training."};
  if (!parse_command_line(table, usage, arguments)) return 0;

  const LengthsFor lengths = lengths_source(options);
  // Opened first, so that a path that cannot be written ends the command before its work.
  RealFileSystem files;
  std::optional<OutputFile> plot;
  if (options.plot) plot = files.create(*options.plot);
  const std::vector<PlanRow> rows =
      make_plan(options, lengths, [](const auto& next) { show_progress(next + " ..."); });
  show_progress("");
  fmt::print("{}", options.json ? plan_json(options, rows) : plan_table(options, rows));
  if (plot) {
    plot->write(plan_plot(options, rows));
    plot->close();
  }
  return 0;
}

}  // namespace odb
