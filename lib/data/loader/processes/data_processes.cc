#include "data/loader/processes/data_processes.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "base/real_file_system.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr std::chrono::seconds kMaxRequestWait{10};

// A fork copies only the calling thread: a lock that another thread holds is never released. This
// program starts none before; a preloaded library may (profilers, allocators, wrappers of MPI). The
// C library's own locks survive a fork, so this usually works.
void warn_of_other_threads() {
#ifndef __SANITIZE_THREAD__  // it has a thread of its own
  RealFileSystem files;
  const std::string status = read_if_there(files, "/proc/self/status");
  for (const std::string_view line : split_lines(status))
    if (line.starts_with("Threads:") && trim(line.substr(8)) != "1")
      log("data").warn(
          "found {} threads before the data processes are forked, expected 1: a preloaded library "
          "has started some; if data processes hang, start without it (LD_PRELOAD)",
          trim(line.substr(8)));
#endif
}

}  // namespace

DataProcesses::DataProcesses(std::vector<LoaderSetup> setups) : control_("fork-server") {
  warn_of_other_threads();
  ODB_CHECK(!setups.empty() && setups.size() <= kMaxLoaders, "{} loaders", setups.size());
  for (LoaderSetup& setup : setups) {
    control_->loaders[loaders_.size()].requested = setup.at_start ? 1 : 0;
    loaders_.emplace_back(std::move(setup));
  }
  server_ = std::make_shared<ServerProcess>(
      fork_child("fork server", [this] { return ForkServer(loaders_, *control_).run(); }),
      control_->beats);
  for (Loader& loader : loaders_)
    pipelines_.emplace_back(loader, server_);
}

DataProcesses::~DataProcesses() {
  stop();
}

void DataProcesses::stop() noexcept {
  control_->stop.store(1);
  server_->notify();
  server_->await_end();
}

void DataProcesses::request_state(std::size_t loader, bool should_run) {
  ServerControl::LoaderState& flags = control_->loaders[loader];
  flags.requested.store(should_run ? 1 : 0);
  server_->notify();
  const auto begin = std::chrono::steady_clock::now();
  const auto followed = [&] { return (flags.running.load() != 0) == should_run; };
  const auto too_late = [&] {
    server_->expect_alive(loaders_[loader].setup.timeout);
    return std::chrono::steady_clock::now() - begin > kMaxRequestWait;
  };
  ODB_CHECK(wait_for(control_->changed, followed, too_late),
            "the fork server did not {} the processes of {} within {} s",
            should_run ? "fork" : "end", loaders_[loader].setup.name, kMaxRequestWait.count());
}

void DataProcesses::begin(std::size_t loader) {
  ODB_CHECK(control_->loaders[loader].running.load() == 0, "loader {} is already running", loader);
  loaders_[loader].memory.clear();
  request_state(loader, true);
}

void DataProcesses::end(std::size_t loader) {
  request_state(loader, false);
}

std::vector<ProcessUse> DataProcesses::use() const {
  std::vector<ProcessUse> uses;
  const auto add = [&uses](const std::string& role, pid_t process) {
    if (process == 0) return;
    if (auto use = process_use(role, process)) uses.push_back(*std::move(use));
  };
  add("fork server", server_->process());
  for (std::size_t loader = 0; loader < loaders_.size(); ++loader) {
    const LoaderControl& control = *loaders_[loader].memory.control;
    const std::string& name = loaders_[loader].setup.name;
    const std::string prefix = name == "train" ? "" : name + " ";
    add(prefix + "collate", control.collate_process);
    for (int worker = 0; worker < loaders_[loader].setup.workers; ++worker)
      add(fmt::format("{}worker {}", prefix, worker), control.builders[worker].process);
  }
  return uses;
}

}  // namespace odb
