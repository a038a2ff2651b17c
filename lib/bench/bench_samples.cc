// bench samples: records of a file made into labeled samples, on one core.
#include <time.h>

#include <chrono>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/options/command_line.h"
#include "base/percentile.h"
#include "base/real_file_system.h"
#include "bench/benchmarks.h"
#include "data/sample/sample_source.h"

namespace odb {
namespace {

struct BenchSamplesOptions {
  DataOptions data;
  std::int64_t rounds = 5;
  bool json = false;
};

void describe(OptionTable& table, BenchSamplesOptions& options) {
  describe(table, options.data);
  table.require({"data", "tokenizer"});
  table.group("bench samples");
  table.add("rounds", options.rounds)
      .at_least(1)
      .help("rounds to measure after the first, cold one; the median is reported");
  table.add_switch("json", options.json).help("print one JSON object");
}

struct Pass {
  double seconds = 0;
  double processor_seconds = 0;  // less than seconds where others use the core too
  std::int64_t bytes = 0;
  std::int64_t samples = 0;
  std::int64_t tokens = 0;
  std::int64_t supervised = 0;
};

double processor_seconds() {
  struct timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Pass make_all(const RecordSet& records, SampleBuilder& builder) {
  Pass pass;
  Sample sample;
  const auto start = std::chrono::steady_clock::now();
  const double processor_start = processor_seconds();
  for (const RecordFile& file : records.files()) {
    pass.bytes += static_cast<std::int64_t>(file.index().stamp.size);
    for (std::uint64_t row = 0; row < file.rows(); ++row) {
      if (builder.build(file, row, sample).left_out != LeftOutReason::none) continue;
      ++pass.samples;
      pass.tokens += static_cast<std::int64_t>(sample.tokens.size());
      pass.supervised += sample.supervised;
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  pass.seconds = taken.count();
  pass.processor_seconds = processor_seconds() - processor_start;
  return pass;
}

}  // namespace

int bench_samples(const Arguments& arguments) {
  BenchSamplesOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{.name = "bench samples",
                           .summary =
                               "Makes every record of the data into a labeled sample on one "
                               "core (read, parse, template, tokens, labels), first cold, "
                               "then again (warm). Reports bytes of data per second.",
                           .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;

  RealFileSystem files;
  const SampleSource source(files, options.data, 0);
  source.preprocessor().log_choices();
  const auto builder = source.preprocessor().builder();
  const Pass cold = make_all(source.records(), *builder);
  std::vector<double> seconds;
  std::vector<double> processor;
  for (std::int64_t round = 0; round < options.rounds; ++round) {
    const Pass warm = make_all(source.records(), *builder);
    seconds.push_back(warm.seconds);
    processor.push_back(warm.processor_seconds);
  }
  const auto bytes = static_cast<double>(cold.bytes);
  const double warm_rate = bytes / median(seconds);
  const double processor_rate = bytes / median(processor);
  const nlohmann::ordered_json result{{"bytes_per_second_cold", bytes / cold.seconds},
                                      {"bytes_per_second_warm", warm_rate},
                                      {"bytes_per_processor_second_warm", processor_rate},
                                      {"bytes", cold.bytes},
                                      {"samples", cold.samples},
                                      {"tokens", cold.tokens},
                                      {"supervised_tokens", cold.supervised},
                                      {"chat_template", source.preprocessor().template_name()}};
  if (options.json)
    fmt::print("{}\n", result.dump());
  else
    fmt::print(
        "{:.1f} MB/s cold, {:.1f} MB/s warm ({:.1f} MB per second of processor time); {} bytes, {} "
        "samples, {} tokens, {} supervised\n",
        bytes / cold.seconds / 1e6, warm_rate / 1e6, processor_rate / 1e6, cold.bytes, cold.samples,
        cold.tokens, cold.supervised);
  return 0;
}

}  // namespace odb
