// An options struct with every kind of option, for the tests of the option system.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/amount.h"
#include "base/options/table.h"

namespace odb::example {

enum class Grouping { greedy, fit };

struct Options {
  int64_t l_max = 8192;
  Grouping grouping = Grouping::fit;
  bool join = true;
  std::optional<int64_t> accumulate;
  std::optional<int64_t> global_batch_tokens;
  std::optional<int64_t> global_batch_samples;
  std::vector<std::filesystem::path> data;
  std::optional<std::filesystem::path> model;
  std::string train_on = "answers";
  std::string rendezvous = "auto";
  double warmup = 0.03;
  uint64_t seed = 0;
  int workers = 2;
  Amount save_every{.value = 500, .unit = Unit::steps};
  std::optional<Amount> log_every;
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  ByteSize cache{.bytes = int64_t{5} << 30};

  bool operator==(const Options&) const = default;
};

inline void describe(OptionTable& table, Options& options) {
  table.group("batching");
  table.add("l-max", options.l_max).unit("tokens").at_least(1).help("token budget of a group");
  table.add("grouping", options.grouping, {{"greedy", Grouping::greedy}, {"fit", Grouping::fit}})
      .help("how groups are formed");
  table.add("join", options.join).help("drain every view at the end of an epoch");
  table.add("accumulate", options.accumulate)
      .unit("micro-steps")
      .at_least(1)
      .default_note("1 unless the step has another length")
      .help("micro-steps of a step");
  table.add("global-batch-tokens", options.global_batch_tokens)
      .unit("tokens")
      .at_least(1)
      .help("a step ends at this many tokens over all ranks");
  table.add("global-batch-samples", options.global_batch_samples)
      .unit("samples")
      .at_least(1)
      .help("a step ends at this many samples over all ranks");
  table.exclusive({"accumulate", "global-batch-tokens", "global-batch-samples"});

  table.group("data");
  table.add("data", options.data).help("files with records");
  table.add("model", options.model).help("folder of the model");
  table.add("train-on", options.train_on)
      .choices({"answers", "all", "last"})
      .help("which tokens are supervised");
  table.add("rendezvous", options.rendezvous)
      .form("auto, env or HOST:PORT",
            [](const std::string& text) {
              return text == "auto" || text == "env" || text.find(':') != std::string::npos;
            })
      .help("where ranks meet");

  table.group("training");
  table.add("warmup", options.warmup)
      .at_least(0)
      .below(1)
      .help("share of the run with rising rate");
  table.add("seed", options.seed).help("of all randomness");
  table.add("workers", options.workers).at_least(1).at_most(64).help("data workers of a rank");
  table.add("save-every", options.save_every).help("how often a checkpoint is saved");
  table.add("log-every", options.log_every)
      .units({.units = {Unit::steps, Unit::seconds}, .bare = Unit::steps})
      .help("how often a line is logged");
  table.add("timeout", options.timeout)
      .at_least(std::chrono::seconds(1))
      .help("a peer is lost when silent for this long");
  table.add("cache", options.cache).help("maximum memory for the index");
  table.require({"data"});
}

// The struct described in a table of its own.
struct Described {
  Options options;
  OptionTable table;
  Described() { describe(table, options); }
};

// The message of the E that `action` throws; empty when it throws none.
template <typename E, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace odb::example
