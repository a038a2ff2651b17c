#include "data/loader/shared/start_message.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace odb {

StartMessage::StartMessage(const std::string& name, std::size_t max_bytes,
                           std::int64_t max_leftovers)
    : shared_(name),
      state_(name + "-state", max_bytes),
      leftovers_(name + "-leftovers", static_cast<std::size_t>(max_leftovers) * sizeof(ViewId)) {}

void StartMessage::write(const PipelineStart& start) {
  ODB_CHECK(!is_written(), "the pipeline is already started");
  const std::string bytes = serialize(OwnedState{.owner = {}, .state = start.state});
  const std::size_t leftover_bytes =
      start.leftovers ? start.leftovers->size() * sizeof(ViewId) : std::size_t{0};
  if (bytes.size() > state_.bytes().size() || leftover_bytes > leftovers_.bytes().size())
    throw UsageError(
        "found a data state of {} bytes with {} leftover samples, expected at most {} and {}: it "
        "belongs to other data or options",
        bytes.size(), leftover_bytes / sizeof(ViewId), state_.bytes().size(),
        leftovers_.bytes().size() / sizeof(ViewId));
  if (start.store_address.size() > kMaxAddress)
    throw UsageError("the store's address has {} characters, at most {} are possible",
                     start.store_address.size(), kMaxAddress);
  std::memcpy(state_.bytes().data(), bytes.data(), bytes.size());
  if (leftover_bytes > 0)
    std::memcpy(leftovers_.bytes().data(), start.leftovers->data(), leftover_bytes);
  shared_->state_bytes = bytes.size();
  shared_->leftovers = leftover_bytes / sizeof(ViewId);
  std::copy(start.store_address.begin(), start.store_address.end(), shared_->store_address);
  shared_->written.store(1, std::memory_order_release);
  shared_->wake_up.wake();
}

void StartMessage::clear() {
  shared_.clear();
  state_.clear();
  leftovers_.clear();
}

PipelineStart StartMessage::read() const {
  ODB_CHECK(is_written(), "the pipeline is not started");
  const auto* const text = reinterpret_cast<const char*>(state_.bytes().data());
  PipelineStart start{
      .state = parse_state({text, shared_->state_bytes}, "the start of the pipeline").state,
      .leftovers = nullptr,
      .store_address = shared_->store_address};
  const auto leftovers = leftovers_.objects<const ViewId>(0, shared_->leftovers);
  if (!leftovers.empty())
    start.leftovers =
        std::make_shared<const std::vector<ViewId>>(leftovers.begin(), leftovers.end());
  return start;
}

}  // namespace odb
