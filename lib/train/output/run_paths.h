// Paths of everything of a run, below its --output folder. Names are built and parsed only here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace odb {

// rank-00007, the name of ledgers and data states.
std::string rank_name(int rank);
// The rank in "rank-00007" + suffix; nothing for any other name.
std::optional<int> parse_rank_name(std::string_view name, std::string_view suffix);

struct RunPaths {
  std::string folder;

  std::string config() const { return folder + "/config.json"; }
  std::string metrics() const { return folder + "/metrics.jsonl"; }
  std::string evaluations() const { return folder + "/evaluations.jsonl"; }
  std::string summary() const { return folder + "/summary.json"; }
  std::string lives() const { return folder + "/lives.jsonl"; }
  // Made by people who want a checkpoint now; removed after it.
  std::string save_now() const { return folder + "/save-now"; }
  std::string lock() const { return folder + "/lock"; }
  std::string ledgers() const { return folder + "/ledger"; }
  std::string ledger(int rank) const { return ledgers() + "/" + rank_name(rank) + ".bin"; }
  std::string checkpoints() const { return folder + "/checkpoints"; }
};

}  // namespace odb
