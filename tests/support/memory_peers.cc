#include "memory_peers.h"

#include <algorithm>

#include "base/error.h"

namespace odb {

class MemoryPeers::Group final : public Peers {
 public:
  Group(MemoryPeers& shared, int rank, std::int64_t generation)
      : shared_(shared), rank_(rank), generation_(generation) {}

  int rank() const override { return rank_; }
  int world() const override { return shared_.world_; }
  std::int64_t generation() const override { return generation_; }

  std::optional<std::vector<std::int64_t>> reduce(Reduction reduction,
                                                  std::vector<std::int64_t> values) override {
    std::unique_lock lock(shared_.mutex_);
    if (shared_.generation_ != generation_) return std::nullopt;
    Exchange& exchange = shared_.exchange_;
    add(exchange, reduction, std::move(values));
    const std::int64_t number = exchange.number;
    if (++exchange.arrived == shared_.world_) {
      exchange.finished = std::move(exchange.values);
      exchange.values.clear();
      exchange.arrived = 0;
      ++exchange.number;
      shared_.changed_.notify_all();
      return exchange.finished;
    }
    shared_.changed_.wait(
        lock, [&] { return shared_.generation_ != generation_ || exchange.number != number; });
    if (shared_.generation_ != generation_) return std::nullopt;
    return exchange.finished;
  }

 private:
  static void add(Exchange& exchange, Reduction reduction, std::vector<std::int64_t> values) {
    if (exchange.arrived == 0) {
      exchange.values = std::move(values);
      return;
    }
    ODB_CHECK_EQ(exchange.values.size(), values.size());
    combine(reduction, values, exchange.values);
  }

  MemoryPeers& shared_;
  int rank_;
  std::int64_t generation_;
};

class MemoryPeers::Member final : public Membership {
 public:
  Member(MemoryPeers& shared, int rank) : shared_(shared), rank_(rank) {}

  std::int64_t generation() override {
    const std::lock_guard lock(shared_.mutex_);
    return shared_.generation_;
  }

  bool advance(std::int64_t from) override {
    const std::lock_guard lock(shared_.mutex_);
    if (shared_.generation_ != from) return false;
    ++shared_.generation_;
    shared_.joined_.assign(shared_.joined_.size(), false);
    shared_.exchange_ = {};
    shared_.changed_.notify_all();
    return true;
  }

  std::unique_ptr<Peers> join(std::int64_t generation) override {
    std::unique_lock lock(shared_.mutex_);
    if (shared_.generation_ != generation) return nullptr;
    ODB_CHECK(!shared_.joined_[static_cast<std::size_t>(rank_)],
              "rank {} joins generation {} a second time", rank_, generation);
    shared_.joined_[static_cast<std::size_t>(rank_)] = true;
    shared_.changed_.notify_all();
    shared_.changed_.wait(
        lock, [&] { return shared_.generation_ != generation || shared_.all_joined(); });
    if (shared_.generation_ != generation) return nullptr;
    return std::make_unique<Group>(shared_, rank_, generation);
  }

 private:
  MemoryPeers& shared_;
  int rank_;
};

MemoryPeers::MemoryPeers(int world) : world_(world), joined_(static_cast<std::size_t>(world)) {
  ODB_CHECK_GE(world, 1);
}

bool MemoryPeers::all_joined() const {
  return std::find(joined_.begin(), joined_.end(), false) == joined_.end();
}

std::unique_ptr<Membership> MemoryPeers::membership(int rank) {
  ODB_CHECK(rank >= 0 && rank < world_, "rank {} of {}", rank, world_);
  return std::make_unique<Member>(*this, rank);
}

}  // namespace odb
