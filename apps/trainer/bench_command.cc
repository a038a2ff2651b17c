// bench: measurements of single parts of the trainer, each a command of its own.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

#include "base/error.h"
#include "base/nearest.h"
#include "bench/benchmarks.h"
#include "commands.h"

namespace odb {

namespace {

struct Benchmark {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments&);
};

constexpr std::array kBenchmarks = {
#ifdef ODB_WITH_LIBTORCH
    Benchmark{"align", "milliseconds that ranks take to agree on a round", bench_align},
#endif
    Benchmark{"loader", "data files made into batches per second, by the data processes of a rank",
              bench_loader},
#ifdef ODB_WITH_LIBTORCH
    Benchmark{"model", "tokens forward and backward per second, and loading", bench_model},
#endif
    Benchmark{"samples", "bytes of records made into labeled samples per second", bench_samples},
    Benchmark{"tokenizer", "bytes of text turned into ids per second", bench_tokenizer}};

}  // namespace

int bench_command(const Arguments& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    fmt::print("odb-trainer bench PART [options]\n\nparts:\n");
    for (const Benchmark& benchmark : kBenchmarks) {
      fmt::print("  {:<12}{}\n", benchmark.name, benchmark.summary);
    }
    return 0;
  }
  const auto found = std::ranges::find(kBenchmarks, arguments[0], &Benchmark::name);
  if (found == kBenchmarks.end()) {
    std::vector<std::string> known;
    known.reserve(kBenchmarks.size());
    for (const Benchmark& benchmark : kBenchmarks)
      known.emplace_back(benchmark.name);
    throw UsageError("unknown part '{}' to measure; {}", arguments[0],
                     did_you_mean(arguments[0], known, "odb-trainer bench --help lists all"));
  }
  return found->run(Arguments(arguments.begin() + 1, arguments.end()));
}

}  // namespace odb
