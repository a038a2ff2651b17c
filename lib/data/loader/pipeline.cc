#include "data/loader/pipeline.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/poll_interval.h"

namespace odb {
namespace {

double ratio(std::int64_t part, double whole) {
  return whole > 0 ? static_cast<double>(part) / whole : 0;
}

}  // namespace

void ServerProcess::notify() const {
  if (end_.empty()) ::kill(process_, SIGUSR2);
}

void ServerProcess::expect_alive(std::chrono::milliseconds timeout) {
  int wait_status = 0;
  if (end_.empty() && ::waitpid(process_, &wait_status, WNOHANG) == process_) {
    end_ = classify_death(wait_status, false).text;
    reaped_ = true;
  }
  if (end_.empty() && liveness_.update(beats_.load()) >= timeout) {
    end_ = fmt::format("showed no sign of life for {:.1f} s and was killed",
                       std::chrono::duration<double>(timeout).count());
    ::kill(process_, SIGKILL);
  }
  if (!end_.empty())
    throw InternalError("the fork server of the data processes (process {}) {}; this rank must end",
                        process_, end_);
}

// A child that the kernel cannot kill at once (a dead disk) must not block the trainer: the fork
// server itself can always be killed, and its children with it.
void ServerProcess::await_end() noexcept {
  constexpr std::chrono::seconds kPatient{10};
  const auto begin = std::chrono::steady_clock::now();
  const struct timespec pause = {.tv_sec = 0, .tv_nsec = 1'000'000};
  while (!reaped_ && ::waitpid(process_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() - begin > kPatient) ::kill(process_, SIGKILL);
    ::nanosleep(&pause, nullptr);
  }
  reaped_ = true;
  if (end_.empty()) end_ = "was ended";
}

double PipelineStatistics::padding_fraction() const {
  return padded_tokens > 0 ? 1 - ratio(tokens, static_cast<double>(padded_tokens)) : 0;
}

double PipelineStatistics::budget_fill(std::int64_t l_max) const {
  return ratio(padded_tokens, static_cast<double>(groups) * static_cast<double>(l_max));
}

double PipelineStatistics::mean_queue() const {
  return ratio(queued, static_cast<double>(slots));
}

Pipeline::Pipeline(Loader& loader, std::shared_ptr<ServerProcess> server)
    : loader_(loader), server_(std::move(server)) {}

void Pipeline::start(PipelineStart start) {
  start_ = start.state;
  next_ = 0;
  released_ = 0;
  newest_.reset();
  waiting_.reset();
  // Slots of the first round that were taken before do not come again.
  taken_ = start_.taken;
  left_out_ = start_.left_out;
  statistics_ = {};
  loader_.memory.start.write(start);
}

void Pipeline::throw_failures() {
  control().collate_failure.throw_if_set();
  control().server_failure.throw_if_set();
  server_->expect_alive(loader_.setup.timeout);
}

std::optional<BatchView> Pipeline::next(std::chrono::milliseconds limit) {
  Arena& arena = loader_.memory.arena;
  const auto is_there = [&] { return arena.is_published(next_); };
  if (!is_there() && !await(limit)) return std::nullopt;
  waiting_.reset();
  const BatchView batch = arena.view(next_++);
  follow(batch);
  count(batch);
  return batch;
}

bool Pipeline::await(std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  WakeUp& published = loader_.memory.arena.published();
  const auto begin = Clock::now();
  const auto waited = [begin] { return Clock::now() - begin; };
  bool came = false;
  if (!waiting_) waiting_.emplace();
  for (;;) {
    const std::uint32_t seen = published.count();
    came = loader_.memory.arena.is_published(next_);
    if (came || waited() >= limit) break;
    waiting_->check([this] {
      return fmt::format("the next micro-batch: collate (process {}) is {}", collate_process(),
                         phase());
    });
    throw_failures();
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(limit - waited());
    published.wait(seen, std::min(rest, kPollInterval));
  }
  ++statistics_.waits;
  statistics_.wait_seconds += std::chrono::duration<double>(waited()).count();
  return came;
}

// Records what the data state needs of the round.
void Pipeline::follow(const BatchView& batch) {
  const std::int64_t ordinal = newest_ ? newest_->ordinal : 0;
  if (batch.header.ordinal != ordinal) {
    taken_.clear();
    left_out_.clear();
  }
  newest_ = batch.header;
  taken_.insert(taken_.end(), batch.views.begin(), batch.views.end());
  left_out_.insert(left_out_.end(), batch.left_out.begin(), batch.left_out.end());
}

void Pipeline::count(const BatchView& batch) {
  const SlotHeader& header = batch.header;
  statistics_.queued += loader_.memory.arena.next_sequence() - next_;
  statistics_.rounds += header.index_in_round == 0 && header.kind != SlotKind::end ? 1 : 0;
  statistics_.slots += header.kind == SlotKind::end ? 0 : 1;
  statistics_.groups += header.kind == SlotKind::data ? 1 : 0;
  statistics_.idle_slots += header.kind == SlotKind::idle ? 1 : 0;
  statistics_.samples += header.rows;
  statistics_.tokens += header.tokens;
  statistics_.padded_tokens += header.padded_tokens;
  statistics_.supervised += header.supervised;
  statistics_.left_out += header.left_out;
}

PipelineStatistics Pipeline::statistics() const {
  PipelineStatistics statistics = statistics_;
  statistics.deaths = control().deaths;
  statistics.aligned_rounds = control().aligned_rounds;
  statistics.aligning_seconds = 1e-9 * static_cast<double>(control().aligning_nanoseconds.load());
  return statistics;
}

void Pipeline::release() {
  ODB_CHECK_LT(released_, next_);
  loader_.memory.arena.release(released_++);
}

DataState Pipeline::state() const {
  if (!newest_) return start_;
  DataState state{.start = loader_.memory.rounds.load(newest_->ordinal).start,
                  .slots_taken = newest_->index_in_round + 1,
                  .taken = taken_,
                  .left_out = left_out_};
  const CrashedSamples& crashed = control().crashed;
  std::vector<LeftOut>& known_bad = state.start.known_bad;
  for (std::uint32_t i = 0; i < crashed.size(); ++i) {
    const LeftOut row{.view = crashed[i].view, .reason = LeftOutReason::crashed_worker};
    if (crashed[i].epoch == state.start.epoch &&
        std::find(known_bad.begin(), known_bad.end(), row) == known_bad.end())
      known_bad.push_back(row);
  }
  return state;
}

}  // namespace odb
