#include "rank_tree.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "data/loader/processes/process_use.h"
#include "processes.h"
#include "texts.h"

namespace odb {
namespace {

// Enough for a worker's tokenizer and for short samples.
constexpr std::uint64_t kRoomBytes = 24 << 20;

std::vector<pid_t> children_of(pid_t parent, const std::vector<SeenProcess>& all) {
  std::vector<pid_t> children;
  if (parent <= 1) return children;
  for (const SeenProcess& seen : all)
    if (seen.parent == parent && seen.state != 'Z') children.push_back(seen.process);
  return children;
}

std::string collate_or_worker(std::size_t index) {
  return index == 0 ? "collate" : "worker " + std::to_string(index - 1);
}

// Which processes died, in which role, in the order of the log.
struct Death {
  std::string role;
  pid_t process = 0;
};

std::vector<Death> deaths_in(const std::string& log) {
  static const std::regex kDeath(R"((collate|worker \d+) \(process (\d+)\) )");
  std::vector<Death> deaths;
  for (std::sregex_iterator at(log.begin(), log.end(), kDeath), end; at != end; ++at)
    deaths.push_back({.role = (*at)[1], .process = std::stoi((*at)[2])});
  return deaths;
}

}  // namespace

RankTree::RankTree(const TrainerRun& run, int rank, int world, int workers)
    : run_(run),
      rank_(rank),
      mark_(world > 1 ? " rank " + std::to_string(rank) + " " : " "),
      processes_(static_cast<std::size_t>(workers) + 1) {}

// The fork server forks collate and then the workers, and logs a death before it forks the process
// that takes over: so the processes that live, by age, have the roles in the order in which these
// were taken over last.
std::optional<RankTree::Roles> RankTree::roles() const {
  const std::vector<SeenProcess> all = all_processes();
  const std::vector<pid_t> servers = children_of(trainer(), all);
  if (servers.empty()) return std::nullopt;
  const std::vector<pid_t> living = children_of(servers.front(), all);
  if (living.size() != processes_) return std::nullopt;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < processes_; ++i)
    order.push_back(collate_or_worker(i));
  for (const Death& death : deaths_in(log())) {
    if (std::ranges::find(living, death.process) != living.end()) return std::nullopt;
    const auto found = std::ranges::find(order, death.role);
    if (found != order.end()) std::rotate(found, found + 1, order.end());
  }
  if (children_of(servers.front(), all_processes()) != living) return std::nullopt;
  std::map<std::string, pid_t> by_role;
  for (std::size_t i = 0; i < processes_; ++i)
    by_role[order[i]] = living[i];
  Roles roles{.fork_server = servers.front(), .collate = by_role.at("collate"), .workers = {}};
  for (std::size_t i = 1; i < processes_; ++i)
    roles.workers.push_back(by_role.at(collate_or_worker(i)));
  return roles;
}

std::string RankTree::log() const {
  std::istringstream lines(run_.rank_lines(rank_));
  std::string found;
  for (std::string line; std::getline(lines, line);)
    if (line.find(mark_ + "fork server [") != std::string::npos ||
        line.find(mark_ + "collate [") != std::string::npos)
      found += line + "\n";
  return found;
}

std::size_t RankTree::left_out() const {
  return count_of(log(), "left out: ");
}

void RankTree::limit_memory(bool limited) const {
  const std::vector<pid_t> servers = children_of(trainer(), all_processes());
  if (servers.empty()) return;
  const pid_t server = servers.front();
  rlimit limit{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  if (limited) {
    std::istringstream statm(content_of("/proc/" + std::to_string(server) + "/statm"));
    std::uint64_t pages = 0;
    statm >> pages;
    limit.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + kRoomBytes;
  }
  ::prlimit(server, RLIMIT_AS, &limit, nullptr);
}

double processor_seconds(pid_t process) {
  const auto ticks =
      parse_processor_ticks(content_of("/proc/" + std::to_string(process) + "/stat"));
  return static_cast<double>(ticks.value_or(0)) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace odb
