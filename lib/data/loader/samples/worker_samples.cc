#include "data/loader/samples/worker_samples.h"

#include "data/loader/long_wait.h"

namespace odb {

void WorkerSamples::restart() {
  generation_.fetch_add(1);
  requested_ = 0;
  answered_ = 0;
  // Wakes workers that wait for room for an outdated answer.
  for (WorkerRings& rings : workers_)
    rings.answers.room().wake();
}

bool WorkerSamples::request(const ViewRequest& view, const GivenUp& given_up) {
  const std::size_t worker = worker_of(requested_);
  Ring& requests = workers_[worker].requests;
  std::span<std::byte> record;
  LongWait wait;
  const auto has_room = [&] {
    record = requests.reserve(sizeof(SampleRequest));
    return !record.empty();
  };
  const bool room = wait_for(requests.room(), has_room, [&] {
    requests.flush();
    wait.check([&] { return fmt::format("worker {} to take a request", worker); });
    return given_up();
  });
  if (!room) return false;
  const SampleRequest request{.generation = generation_, .number = requested_++, .view = view};
  std::memcpy(record.data(), &request, sizeof request);
  requests.publish();
  return true;
}

void WorkerSamples::flush_requests() {
  for (WorkerRings& rings : workers_)
    rings.requests.flush();
}

std::optional<SampleView> WorkerSamples::find_answer(Ring& answers) {
  for (;;) {
    const std::span<const std::byte> record = answers.front();
    if (record.empty()) return std::nullopt;
    const ReadAnswer answer = read_answer(record);
    const bool is_new = answer.header.generation == generation_;
    ODB_CHECK(
        answer.header.generation <= generation_ && (!is_new || answer.header.number <= answered_),
        "found an answer of generation {} with number {}, expected generation {}, number {}",
        answer.header.generation, answer.header.number, generation_.load(), answered_);
    if (is_new && answer.header.number == answered_) return answer.sample;
    answers.pop();
  }
}

std::optional<SampleView> WorkerSamples::next(const GivenUp& given_up) {
  ODB_CHECK_LT(answered_, requested_);
  const std::size_t worker = worker_of(answered_);
  Ring& answers = workers_[worker].answers;
  std::optional<SampleView> found;
  const auto is_there = [&] {
    found = find_answer(answers);
    return found.has_value();
  };
  LongWait wait;
  wait_for(answers.records(), is_there, [&] {
    wait.check([&] { return fmt::format("worker {} to prepare a sample", worker); });
    return given_up();
  });
  return found;
}

void WorkerSamples::done() {
  workers_[worker_of(answered_++)].answers.pop();
}

}  // namespace odb
