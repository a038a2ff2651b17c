#include "dist/gloo_membership.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/start_thread.h"
#include "dist/network.h"

namespace odb {
namespace {

// How long one wait at the store lasts before it is repeated: for the next generation, as long as
// the run takes; and in joining.
constexpr std::chrono::milliseconds kWatchSlice{1000};
constexpr std::chrono::milliseconds kJoinSlice{200};

std::string network_of(const GlooMembershipOptions& options) {
  return options.network.empty() ? local_address_towards(options.store) : options.network;
}

}  // namespace

class GlooMembership::Group final : public Peers {
 public:
  Group(GlooMembership& membership, std::int64_t generation)
      : membership_(membership),
        generation_(generation),
        group_(membership.store_, {.prefix = membership.group_prefix(generation),
                                   .network = membership.options_.network,
                                   .rank = membership.options_.rank,
                                   .world = membership.options_.world,
                                   .connect_limit = membership.options_.connect_limit}) {
    membership_.attach(this);
  }
  ~Group() override { membership_.attach(nullptr); }

  int rank() const override { return membership_.options_.rank; }
  int world() const override { return membership_.options_.world; }
  std::int64_t generation() const override { return generation_; }

  std::optional<std::vector<std::int64_t>> reduce(Reduction reduction,
                                                  std::vector<std::int64_t> values) override {
    if (group_.reduce(reduction, values)) return values;
    membership_.check_store();
    if (const int peer = group_.lost_peer(); peer >= 0)
      log("align").info("rank {} has closed its connection: generation {} ends", peer, generation_);
    membership_.advance(generation_);  // no effect if another rank has done so
    return std::nullopt;
  }

  void interrupt() { group_.interrupt(); }
  int lost_peer() const { return group_.lost_peer(); }

 private:
  GlooMembership& membership_;
  const std::int64_t generation_;
  GlooGroup group_;
};

GlooMembership::GlooMembership(GlooMembershipOptions options)
    : options_(std::move(options)),
      store_(Store::connect(options_.store, options_.connect_timeout)),
      watched_(Store::connect(options_.store, options_.connect_timeout)) {
  options_.network = network_of(options_);
  store_.set(network_key(options_.rank), options_.network);
  while (store_.find(generation_key(generation_ + 1)))
    ++generation_;
  watcher_ = start_thread([this] { watch(); });
}

GlooMembership::~GlooMembership() {
  stop_ = true;
  watcher_.join();
}

std::string GlooMembership::generation_key(std::int64_t generation) const {
  return fmt::format("{}generation/{}", options_.prefix, generation);
}

std::string GlooMembership::group_prefix(std::int64_t generation) const {
  return fmt::format("{}gen/{}", options_.prefix, generation);
}

std::string GlooMembership::network_key(int rank) const {
  return fmt::format("{}network/{}", options_.prefix, rank);
}

void GlooMembership::watch() {
  try {
    while (!stop_) {
      const std::int64_t next = generation_ + 1;
      if (watched_.wait_for(generation_key(next), kWatchSlice)) saw(next);
    }
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    store_fault_ = error.what();
    store_lost_ = true;
    if (group_ != nullptr) group_->interrupt();
  }
}

void GlooMembership::saw(std::int64_t generation) {
  const std::lock_guard lock(mutex_);
  if (generation <= generation_) return;
  generation_ = generation;
  if (group_ != nullptr && group_->generation() < generation) group_->interrupt();
}

void GlooMembership::attach(Group* group) {
  const std::lock_guard lock(mutex_);
  group_ = group;
  if (group != nullptr && (store_lost_ || group->generation() < generation_)) group->interrupt();
}

void GlooMembership::check_store() const {
  if (store_lost_) throw PeerLostError("{}", store_fault_);
}

std::int64_t GlooMembership::generation() {
  check_store();
  return generation_;
}

bool GlooMembership::advance(std::int64_t from) {
  if (generation() != from) return false;
  const std::string me = fmt::format("rank {} process {}", options_.rank, ::getpid());
  const bool won = store_.set_once(generation_key(from + 1), me) == me;
  saw(from + 1);
  return won;
}

std::unique_ptr<Peers> GlooMembership::join(std::int64_t generation) {
  if (this->generation() != generation) return nullptr;
  const std::string prefix = group_prefix(generation);
  ODB_CHECK(store_.add(fmt::format("{}/rank/{}", prefix, options_.rank), 1) == 1,
            "rank {} joins generation {} a second time", options_.rank, generation);
  auto group = std::make_unique<Group>(*this, generation);
  if (store_.add(prefix + "/joined", 1) == options_.world) store_.set(prefix + "/complete", "yes");
  while (!store_.wait_for(prefix + "/complete", kJoinSlice))
    if (this->generation() != generation) return nullptr;
  if (!connect(*group)) return nullptr;
  return group;
}

bool GlooMembership::connect(Group& group) {
  if (group.reduce(Reduction::max, {group.generation()})) {
    unconnected_ = 0;
    return true;
  }
  const int peer = group.lost_peer();
  if (peer < 0 || ++unconnected_ < kMaxUnconnected) return false;
  throw UsageError(
      "rank {} on {} and rank {} on {} could not connect to each other, {} times in a row: each "
      "must reach the other there (firewalls, networks of containers); choose a network that all "
      "ranks share with --network",
      options_.rank, options_.network, peer,
      store_.find(network_key(peer)).value_or("an unknown network"), unconnected_);
}

std::function<std::unique_ptr<Membership>(const std::string& store_address)> membership_over_gloo(
    GlooMembershipOptions options) {
  return [options = std::move(options)](const std::string& store_address) mutable {
    const auto address = parse_host_port(store_address);
    ODB_CHECK(address.has_value(), "'{}' is not the address of a store", store_address);
    options.store = *address;
    return std::make_unique<GlooMembership>(options);
  };
}

}  // namespace odb
