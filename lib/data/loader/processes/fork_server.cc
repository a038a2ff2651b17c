#include "data/loader/processes/fork_server.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/poll_interval.h"
#include "data/loader/collate.h"
#include "data/loader/processes/process_use.h"
#include "data/loader/samples/inline_samples.h"
#include "data/loader/samples/worker_samples.h"

namespace odb {
namespace {

// Deaths in a row without progress between them, after which the rank gives up.
constexpr int kMaxCrashes = 5;
constexpr int kMaxKills = 100;
// A child that waits for storage may be silent for so many timeouts, then the rank ends.
constexpr int kStorageTimeouts = 3;
// One each 0.1 s: a system that permits no further process now often does soon.
constexpr int kMaxForkTries = 50;

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGUSR2);
  return set;
}

bool is_killed(int wait_status) {
  return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
}

// The stop condition that a child's waits poll. Children end by SIGKILL, so it is never true; each
// poll counts as a sign of life.
auto beating(std::atomic<std::int64_t>& beats) {
  return [&beats] {
    beats.fetch_add(1, std::memory_order_relaxed);
    return false;
  };
}

int run_worker(Loader& loader, int worker) {
  const auto index = static_cast<std::size_t>(worker);
  const std::unique_ptr<ViewBuilder> builder = loader.setup.builder();
  LoaderControl& control = *loader.memory.control;
  Worker(loader.memory.workers[index], control.builders[index], control.request_generation,
         *builder, loader.setup.rules)
      .run(beating(control.builders[index].beats));
  return 0;
}

int run_collate(Loader& loader) {
  LoaderControl& control = *loader.memory.control;
  if (loader.setup.workers > 0) {
    WorkerSamples stream(loader.memory.workers, control.request_generation);
    Collate(loader.setup, loader.memory, stream).run(beating(control.beats));
    return 0;
  }
  const std::unique_ptr<ViewBuilder> builder = loader.setup.builder();
  InlineSamples stream(*builder, control.builders[0], loader.setup.rules);
  Collate(loader.setup, loader.memory, stream).run(beating(control.beats));
  return 0;
}

}  // namespace

ForkServer::ForkServer(std::deque<Loader>& loaders, ServerControl& control)
    : loaders_(loaders), control_(control), memory_kills_(files_) {}

int ForkServer::run() {
  try {
    serve();
  } catch (const Error& error) {
    // Usually: the system permits no further process.
    for (Loader& loader : loaders_) {
      loader.memory.control->server_failure.write(error.failure());
      loader.memory.arena.published().wake();
    }
    throw;
  }
  return 0;
}

void ForkServer::serve() {
  const sigset_t awaited = awaited_signals();
  ::pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
  while (control_.stop.load() == 0) {
    control_.beats.fetch_add(1);
    apply_requests();
    reap();
    kill_hung();
    memory_kills_.forget_old();
    const struct timespec limit = {.tv_sec = 0,
                                   .tv_nsec = kPollInterval / std::chrono::nanoseconds(1)};
    ::sigtimedwait(&awaited, nullptr, &limit);
  }
  for (std::size_t loader = 0; loader < loaders_.size(); ++loader)
    end(loader);
}

void ForkServer::apply_requests() {
  for (std::size_t loader = 0; loader < loaders_.size(); ++loader) {
    ServerControl::LoaderState& flags = control_.loaders[loader];
    if (flags.requested.load() == flags.running.load()) continue;
    if (flags.requested.load() != 0)
      begin(loader);
    else
      end(loader);
    flags.running.store(flags.requested.load() != 0 ? 1 : 0);
    control_.changed.wake();
  }
}

void ForkServer::begin(std::size_t loader) {
  for (int worker = kCollate; worker < loaders_[loader].setup.workers; ++worker) {
    children_.push_back({.loader = loader, .worker = worker});
    fork(children_.back());
  }
}

void ForkServer::end(std::size_t loader) {
  for (const Child& child : children_)
    if (child.loader == loader) ::kill(child.process, SIGKILL);
  for (const Child& child : children_) {
    if (child.loader != loader) continue;
    ::waitpid(child.process, nullptr, 0);
    process_of(child) = 0;
  }
  std::erase_if(children_, [loader](const Child& child) { return child.loader == loader; });
}

std::string ForkServer::role(const Child& child) const {
  const std::string& name = loaders_[child.loader].setup.name;
  const std::string loader = name == "train" ? "" : name + " ";
  return child.worker == kCollate ? loader + "collate"
                                  : fmt::format("{}worker {}", loader, child.worker);
}

// Where the child records the sample that it prepares; null for a collate that prepares none.
BuilderState* ForkServer::builder_state(const Child& child) {
  Loader& loader = loader_of(child);
  if (child.worker != kCollate) return &loader.memory.control->builders[child.worker];
  return loader.setup.workers == 0 ? &loader.memory.control->builders[0] : nullptr;
}

std::int64_t ForkServer::progress(const Child& child) {
  const BuilderState* const builder = builder_state(child);
  return (builder != nullptr ? builder->built.load() : 0) +
         (child.worker == kCollate ? loader_of(child).memory.control->progress.load() : 0);
}

std::int64_t ForkServer::signs_of_life(const Child& child) {
  const LoaderControl& control = *loader_of(child).memory.control;
  return progress(child) + (child.worker == kCollate ? control.beats.load()
                                                     : control.builders[child.worker].beats.load());
}

// Gloo's waits give no sign of life. A stopped process (SIGSTOP) may not be silent even there.
bool ForkServer::may_be_silent(const Child& child) {
  return child.worker == kCollate &&
         odb::may_be_silent(loader_of(child).memory.control->phase.load()) &&
         !is_stopped(files_, child.process);
}

void ForkServer::kill_hung() {
  for (Child& child : children_) {
    const std::chrono::nanoseconds timeout = loader_of(child).setup.timeout;
    if (!child.hung.empty()) {
      if (child.liveness.update(signs_of_life(child)) >= kStorageTimeouts * timeout)
        throw FileError(
            "{} (process {}) {}, and has not ended since: it is stuck in the kernel, usually by "
            "storage that does not answer",
            role(child), child.process, child.hung);
      continue;
    }
    if (may_be_silent(child)) {
      child.liveness.reset();
      continue;
    }
    const auto silent = child.liveness.update(signs_of_life(child));
    if (silent < timeout) {
      child.warned_of_storage = false;
      continue;
    }
    if (is_held_by_storage(child, silent)) continue;
    child.hung = fmt::format("showed no sign of life for {:.1f} s and was killed",
                             std::chrono::duration<double>(silent).count());
    log("data").warn("{} (process {}) {}{}", role(child), child.process, child.hung,
                     sample_of(child));
    ::kill(child.process, SIGKILL);
  }
}

bool ForkServer::is_held_by_storage(Child& child, std::chrono::nanoseconds silent) {
  if (!waits_for_storage(files_, child.process)) return false;
  const double seconds = std::chrono::duration<double>(silent).count();
  if (silent >= kStorageTimeouts * std::chrono::nanoseconds(loader_of(child).setup.timeout))
    throw FileError(
        "{} (process {}) has waited for storage for {:.1f} s{}; check the file systems that hold "
        "the data; such a wait may last three times --timeout",
        role(child), child.process, seconds, sample_of(child));
  if (!std::exchange(child.warned_of_storage, true))
    log("data").warn("{} (process {}) has waited for storage for {:.1f} s{}", role(child),
                     child.process, seconds, sample_of(child));
  return true;
}

void ForkServer::fork(Child& child) {
  Loader& loader = loader_of(child);
  child.progress = progress(child);
  child.liveness.reset();
  child.hung.clear();
  child.warned_of_storage = false;
  const auto body = [&loader, worker = child.worker] {
    return worker == kCollate ? run_collate(loader) : run_worker(loader, worker);
  };
  child.process = fork_child(role(child), body, [this, tries = 0]() mutable {
    control_.beats.fetch_add(1);
    std::this_thread::sleep_for(kPollInterval);
    return ++tries < kMaxForkTries;
  });
  process_of(child) = child.process;
}

std::atomic<std::int32_t>& ForkServer::process_of(const Child& child) {
  LoaderControl& control = *loader_of(child).memory.control;
  return child.worker == kCollate ? control.collate_process
                                  : control.builders[child.worker].process;
}

void ForkServer::reap() {
  int wait_status = 0;
  for (pid_t process = 0; (process = ::waitpid(-1, &wait_status, WNOHANG)) > 0;) {
    const auto child = std::ranges::find(children_, process, &Child::process);
    if (child != children_.end() && !replace(*child, wait_status)) children_.erase(child);
  }
}

bool ForkServer::replace(Child& child, int wait_status) {
  const Death death =
      child.hung.empty()
          ? classify_death(wait_status, is_killed(wait_status) && memory_kills_.explain_death())
          : Death{.kind = DeathKind::silent, .text = child.hung};
  LoaderControl& control = *loader_of(child).memory.control;
  const std::string sample = sample_of(child);
  note_suspect(child, death);
  if (death.kind != DeathKind::silent)  // a silent one was logged when it was killed
    log("data").warn("{} (process {}) {}{}", role(child), child.process, death.text, sample);
  control.deaths.fetch_add(1);
  if (may_go_on(child, death)) {
    fork(child);
    return true;
  }
  control.server_failure.write(
      {.code = ExitCode::internal,
       .message = fmt::format("{} died {} times without progress in between; the last time it {}{}",
                              role(child), child.crashes + child.kills, death.text, sample)});
  loader_of(child).memory.arena.published().wake();
  process_of(child) = 0;
  return false;
}

std::string ForkServer::sample_of(const Child& child) {
  const BuilderState* const builder = builder_state(child);
  const std::int64_t building = builder != nullptr ? builder->building.load() : 0;
  if (building == 0) return "";
  return fmt::format(" while it prepared sample {} of epoch {}", building - 1,
                     builder->epoch.load());
}

void ForkServer::note_suspect(const Child& child, const Death& death) {
  BuilderState* const builder = builder_state(child);
  if (builder == nullptr || builder->building == 0) return;
  const std::int64_t building = builder->building.exchange(0);
  if (death.kind == DeathKind::killed) return;
  const bool again = builder->suspect == building && builder->suspect_epoch == builder->epoch;
  builder->crashes = again ? builder->crashes + 1 : 1;
  builder->suspect = building;
  builder->suspect_epoch = builder->epoch.load();
}

bool ForkServer::may_go_on(Child& child, const Death& death) {
  if (progress(child) != child.progress) child.crashes = child.kills = 0;
  ++(death.kind == DeathKind::killed ? child.kills : child.crashes);
  return child.crashes < kMaxCrashes && child.kills < kMaxKills;
}

}  // namespace odb
