// bench model: forward and backward over batches of a file, and how long loading took.
#include <algorithm>
#include <chrono>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/options/choices.h"
#include "base/options/command_line.h"
#include "base/process_memory.h"
#include "base/real_file_system.h"
#include "batching/options.h"
#include "bench/benchmarks.h"
#include "model/cpu/caching_allocator.h"
#include "model/init.h"
#include "model/language_model.h"
#include "model/layers/linear.h"
#include "model/measure.h"
#include "model/weights_io.h"

namespace odb {
namespace {

struct BenchModelOptions {
  ModelOptions model;
  std::string batches;
  Layout layout = Layout::flat;
  std::int64_t rounds = 3;
  std::int64_t threads = 0;
};

void describe(OptionTable& table, BenchModelOptions& options) {
  describe(table, options.model);
  table.require({"model"});
  table.group("bench model");
  table.add("batches", options.batches)
      .help(
          "JSON file: {\"batches\": [{\"tokens\": [[...]], \"labels\": [[...]]}]}; without it only "
          "loading is measured");
  table.add("layout", options.layout, named({Layout::flat, Layout::padded}))
      .help("rows one after another, or padded to the longest of their batch");
  table.add("rounds", options.rounds)
      .at_least(1)
      .help("number of passes over all batches; each is reported");
  table.add("threads", options.threads).at_least(0).help("0: one per core");
}

}  // namespace

int bench_model(const Arguments& arguments) {
  BenchModelOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{.name = "bench model",
                           .summary =
                               "Loads a model, goes forward and backward over batches, and "
                               "prints one JSON object: loss, tokens, seconds of each round, "
                               "seconds of loading, and the peak memory before and "
                               "after.",
                           .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;
  enable_caching_allocator();
  limit_onednn_cache();
  if (options.threads > 0) at::set_num_threads(static_cast<int>(options.threads));

  RealFileSystem files;
  LanguageModel model(read_model_config(files, options.model.model),
                      {.dtype = options.model.dtype, .recompute = options.model.recompute});
  const auto start = std::chrono::steady_clock::now();
  if (options.model.init == Initialization::random)
    initialize_weights(model, 0);
  else
    load_weights(files, options.model.model, model);
  const std::chrono::duration<double> loading = std::chrono::steady_clock::now() - start;
  nlohmann::ordered_json result{{"load_seconds", loading.count()},
                                {"load_peak_bytes", peak_memory_bytes()}};
  if (!options.batches.empty()) {
    const auto batches = parse_measured_batches(files.read_all(options.batches), options.batches);
    const Measurement measured =
        measure_model(model, batches, options.layout == Layout::padded, options.rounds);
    result.update({{"loss", measured.loss},
                   {"real_tokens", measured.real_tokens},
                   {"computed_tokens", measured.computed_tokens},
                   {"seconds", measured.seconds},
                   {"peak_bytes", peak_memory_bytes()}});
  }
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace odb
