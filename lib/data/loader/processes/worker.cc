#include "data/loader/processes/worker.h"

#include <algorithm>
#include <chrono>

namespace odb {
namespace {

constexpr std::size_t kMinAnswerBytes = 1 << 20;
// The reader is woken after this many bytes or this much time.
constexpr std::size_t kFlushBytes = 64 << 10;
constexpr std::int64_t kFlushAfterNs = 1'000'000;

std::size_t request_bytes(std::int64_t requests) {
  return static_cast<std::size_t>(requests) * (sizeof(SampleRequest) + sizeof(std::uint64_t));
}

std::size_t answer_bytes(std::int64_t longest) {
  return std::max(kMinAnswerBytes, Ring::capacity_for(max_answer_bytes(longest)));
}

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

WorkerRings::WorkerRings(const std::string& name, std::int64_t requests_at_a_time,
                         std::int64_t longest)
    : requests(name + "-requests", request_bytes(requests_at_a_time)),
      answers(name + "-answers", answer_bytes(longest)) {}

std::size_t worker_ring_bytes(std::int64_t requests, std::int64_t longest) {
  return 2 * (request_bytes(requests) + answer_bytes(longest));  // powers of two: at most twice
}

bool Worker::send(const SampleRequest& request, const ViewAnswer& answer) {
  const SampleAnswer header = answer_header(request, answer, sample_);
  const std::span<std::byte> record =
      rings_.answers.reserve(sizeof header + header.payload_bytes());
  if (record.empty()) return false;
  write_answer(header, answer, sample_, record);
  rings_.answers.publish();
  unflushed_bytes_ += record.size();
  return true;
}

void Worker::flush_if_due() {
  const std::int64_t now = now_ns();
  if (unflushed_bytes_ < kFlushBytes && now - last_flush_ns_ < kFlushAfterNs &&
      !rings_.requests.empty())
    return;
  rings_.answers.flush();
  unflushed_bytes_ = 0;
  last_flush_ns_ = now;
}

}  // namespace odb
