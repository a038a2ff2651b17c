#include "dist/training_groups.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <vector>

#include <fmt/ranges.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/cuda.h>

#include "base/error.h"
#include "dist/gloo_group.h"
#include "dist/gloo_process_group.h"
#include "dist/nccl_process_group.h"
#include "dist/network.h"
#include "dist/peer_loss.h"

namespace odb {

BackendChoice backend_choice(const std::string& option) {
  if (option == "gloo") return BackendChoice::gloo;
  return option == "nccl" ? BackendChoice::nccl : BackendChoice::automatic;
}

void require_backend(BackendChoice backend, const torch::Device& device) {
  if (backend != BackendChoice::nccl) return;
  if (!device.is_cuda())
    throw UsageError(
        "--backend nccl works between GPUs, and this rank trains on {}; choose --backend gloo",
        device.str());
  if (!has_nccl())
    throw UsageError(
        "--backend nccl: the LibTorch of this build has no NCCL; choose --backend gloo, or build "
        "with a CUDA LibTorch that has it");
}

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

bool wants_nccl(const TrainingGroupsOptions& options) {
  require_backend(options.backend, options.device);
  if (options.backend == BackendChoice::automatic) return options.device.is_cuda() && has_nccl();
  return options.backend == BackendChoice::nccl;
}

// Between two ranks that have just joined.
milliseconds connect_limit(const TrainingGroupsOptions& options) {
  return std::min(options.connect_timeout, milliseconds(30000 + 10 * options.world));
}

// Waits until all ranks have joined. The last one sets a key that the others wait for.
void await_all(Store& store, const TrainingGroupsOptions& options) {
  constexpr milliseconds kSlice{1000};
  const Clock::time_point end = Clock::now() + options.connect_timeout;
  const auto key = [&](int rank) { return fmt::format("{}rank/{}", options.prefix, rank); };
  const std::string complete = options.prefix + "complete";
  ODB_CHECK(store.add(key(options.rank), 1) == 1, "rank {} joins '{}' a second time", options.rank,
            options.prefix);
  if (store.add(options.prefix + "joined", 1) == options.world) store.set(complete, "yes");
  while (!store.wait_for(complete, kSlice)) {
    if (Clock::now() < end) continue;
    std::vector<int> missing;
    for (int rank = 0; rank < options.world; ++rank)
      if (!store.find(key(rank))) missing.push_back(rank);
    throw PeerLostError(
        "rank{} {} of {} did not join within {:.1f} s; see their own logs, and check that every "
        "rank has the same world size and the store at {}",
        missing.size() == 1 ? "" : "s", fmt::join(missing, ", "), options.world,
        static_cast<double>(options.connect_timeout.count()) / 1000, to_text(store.address()));
  }
}

}  // namespace

struct TrainingGroups::Groups {
  Groups(const HostPort& address, TrainingGroupsOptions given)
      : options(std::move(given)), store(Store::connect(address, options.connect_timeout)) {
    const bool nccl = wants_nccl(options);
    if (options.network.empty()) options.network = local_address_towards(address);
    votes = std::make_unique<GlooGroup>(store, gloo_options("votes"));
    control = gloo_process_group(store, gloo_options("control"));
    reducing = nccl ? nccl_process_group(store, options.prefix + "nccl", options.rank,
                                         options.world, options.device)
                    : gloo_process_group(store, gloo_options("gradients", 2));
    using Type = c10d::ProcessGroup::BackendType;
    type = nccl ? Type::NCCL : Type::GLOO;
    training = c10::make_intrusive<c10d::ProcessGroup>(
        c10::intrusive_ptr<c10d::Store>::reclaim_copy(&store.libtorch()), options.rank,
        options.world);
    if (nccl) training->setBoundDeviceId(options.device);
    training->setBackend(options.device.type(), type, reducing);
    training->setDefaultBackend(type);
  }

  // A collective that a peer will never finish must not keep this process.
  ~Groups() {
    if (!connected) return;  // else they have limits
    const int left = (options.rank + options.world - 1) % options.world;
    const int right = (options.rank + 1) % options.world;
    std::set<int> neighbors{left, right};
    neighbors.erase(options.rank);
    try {
      end_operations(*control, neighbors);
      if (type == c10d::ProcessGroup::BackendType::NCCL)
        abort_nccl(*reducing);
      else
        end_operations(*reducing, neighbors);
    } catch (const std::exception&) {  // there is nothing left to end
    }
  }

  GlooGroupOptions gloo_options(const char* name, int threads = 1) const {
    return {.prefix = options.prefix + name,
            .network = options.network,
            .rank = options.rank,
            .world = options.world,
            .connect_limit = connect_limit(options),
            .threads = threads};
  }

  // Makes the connections of the usual collectives while all ranks are waiting for it.
  void connect() {
    std::vector<std::int64_t> nothing{0};
    if (!votes->reduce(Reduction::max, nothing))
      throw PeerLostError("rank {} has closed its connection, or cannot be reached",
                          votes->lost_peer());
    std::vector<torch::Tensor> number{torch::zeros({1})};
    control->allreduce(number)->wait();
    control->broadcast(number)->wait();
    control->barrier()->wait();
    std::vector<torch::Tensor> on_device{torch::zeros({1}, options.device)};
    training->allreduce(on_device)->wait();
    training->broadcast(on_device)->wait();
    if (type == c10d::ProcessGroup::BackendType::NCCL)
      torch::cuda::synchronize(options.device.index());
    connected = true;
    lift_limits(*control);
    if (type == c10d::ProcessGroup::BackendType::GLOO) lift_limits(*reducing);
  }

  TrainingGroupsOptions options;
  bool connected = false;
  Store store;
  std::unique_ptr<GlooGroup> votes;
  c10::intrusive_ptr<c10d::Backend> control;
  c10::intrusive_ptr<c10d::Backend> reducing;
  c10d::ProcessGroup::BackendType type = c10d::ProcessGroup::BackendType::UNDEFINED;
  c10::intrusive_ptr<c10d::ProcessGroup> training;
};

TrainingGroups::TrainingGroups(const Store& store, const TrainingGroupsOptions& options)
    : groups_(std::make_unique<Groups>(store.address(), options)) {
  await_all(groups_->store, groups_->options);
  try {
    as_peer_loss("connecting", [&] { groups_->connect(); });
  } catch (const PeerLostError& error) {
    throw PeerLostError(
        "{}; this rank listens on {}: other ranks must reach it there; if not, set --network",
        error.what(), groups_->options.network);
  }
}

TrainingGroups::TrainingGroups(TrainingGroups&&) noexcept = default;
TrainingGroups& TrainingGroups::operator=(TrainingGroups&&) noexcept = default;
TrainingGroups::~TrainingGroups() = default;

c10::intrusive_ptr<c10d::ProcessGroup> TrainingGroups::training() const {
  return groups_->training;
}
c10::intrusive_ptr<c10d::Backend> TrainingGroups::control() const {
  return groups_->control;
}
GlooGroup& TrainingGroups::votes() {
  return *groups_->votes;
}
int TrainingGroups::rank() const {
  return groups_->options.rank;
}
int TrainingGroups::world() const {
  return groups_->options.world;
}
const torch::Device& TrainingGroups::device() const {
  return groups_->options.device;
}
const char* TrainingGroups::backend_name() const {
  return groups_->type == c10d::ProcessGroup::BackendType::NCCL ? "nccl" : "gloo";
}

}  // namespace odb
