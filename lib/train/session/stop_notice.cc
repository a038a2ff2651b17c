#include "train/session/stop_notice.h"

#include <utility>

#include "base/log.h"
#include "base/poll_interval.h"
#include "base/start_thread.h"

namespace odb {
namespace {

std::string_view what_follows(std::string_view phase) {
  if (phase == "training") return "finishing the micro-batch and saving";
  if (phase == "evaluating") return "ending the evaluation and saving";
  if (phase == "saving") return "the checkpoint is being saved";
  return "leaving once the model is loaded, there is nothing to save";
}

}  // namespace

std::string stop_notice(StopReason reason, std::string_view phase) {
  return fmt::format(
      "{}: {}{}", name(reason), what_follows(phase),
      reason == StopReason::interrupt ? "; press again to leave without saving" : "");
}

StopNotice::StopNotice(std::function<std::string_view()> phase) {
  thread_ = start_thread([this, phase = std::move(phase)] { watch(phase); });
}

StopNotice::~StopNotice() {
  end();
  thread_.join();
}

void StopNotice::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void StopNotice::watch(const std::function<std::string_view()>& phase) {
  std::unique_lock lock(mutex_);
  while (!ended_ && !stop_state().stop())
    changed_.wait_for(lock, kPollInterval);
  if (ended_) return;
  lock.unlock();  // the log may block
  log("train").info("{}", stop_notice(stop_state().reason, phase()));
}

}  // namespace odb
