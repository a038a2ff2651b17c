#include "train/session/rank_options.h"

#include <string_view>

#include "base/error.h"
#include "base/host_port.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr std::int64_t kMaxRanks = 1 << 20;

bool is_device(const std::string& text) {
  if (text == "auto" || text == "cpu" || text == "cuda") return true;
  const std::string_view prefix = "cuda:";
  const auto number = text.starts_with(prefix)
                          ? parse_integer<int>(std::string_view(text).substr(prefix.size()))
                          : std::nullopt;
  return number && *number >= 0;
}

bool is_rendezvous(const std::string& text) {
  if (text == "auto" || text == "env" || text == "slurm") return true;
  return parse_host_port(text).has_value();
}

void check_ranks(const RankOptions& options) {
  if (options.rank.has_value() != options.world_size.has_value())
    throw UsageError("--rank and --world-size come together, found only --{}",
                     options.rank ? "rank" : "world-size");
  if (options.rank && *options.rank >= *options.world_size)
    throw UsageError("--rank {} with --world-size {}; ranks count from 0 to {}", *options.rank,
                     *options.world_size, *options.world_size - 1);
  if (options.local_rank && options.world_size && *options.local_rank >= *options.world_size)
    throw UsageError("--local-rank {} with --world-size {}; expected less than the world size",
                     *options.local_rank, *options.world_size);
  if (options.backend == "nccl" && options.device == "cpu")
    throw UsageError("--backend nccl with --device cpu; nccl needs a GPU, take gloo");
}

}  // namespace

void describe(OptionTable& table, RankOptions& options) {
  table.group("ranks");
  table.add("rank", options.rank)
      .at_least(0)
      .default_note("from the launcher, else 0")
      .help("number of this process over the whole job");
  table.add("world-size", options.world_size)
      .at_least(1)
      .at_most(kMaxRanks)
      .default_note("from the launcher, else 1")
      .help("processes of the whole job");
  table.add("local-rank", options.local_rank)
      .at_least(0)
      .default_note("from the launcher, else the rank")
      .help("number of this process on its machine; chooses the GPU");
  table.add("rendezvous", options.rendezvous)
      .form("auto, env, slurm or HOST:PORT", is_rendezvous)
      .help(
          "how ranks find each other: HOST:PORT of rank 0, or from where it is read: env from "
          "MASTER_ADDR and MASTER_PORT, slurm from the list of hosts");
  table.add("timeout", options.timeout)
      .at_least(std::chrono::seconds(1))
      .help("a rank that gives no sign of life for this long is lost");
  table.add("device", options.device)
      .form("auto, cpu, cuda or cuda:N", is_device)
      .help("device to compute on; auto takes the local rank's GPU if there is one");
  table.add("backend", options.backend)
      .choices({"auto", "gloo", "nccl"})
      .help("how ranks exchange gradients; auto is nccl on GPUs if the build has it");
  table.add("mixed-devices", options.mixed_devices)
      .help("on permits ranks on GPUs of different kinds, which may make their weights differ");
  table.add("network", options.network)
      .help("name or address by which other ranks reach this machine; empty: detected");
  table.add("threads", options.threads)
      .at_least(1)
      .at_most(4096)
      .default_note("the machine's processors shared out over its ranks")
      .help("threads that compute in this process");
  table.validate([&options] {
    check_ranks(options);
    options.network = without_brackets(options.network);
  });
}

}  // namespace odb
