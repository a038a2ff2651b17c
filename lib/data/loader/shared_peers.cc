#include "data/loader/shared_peers.h"

#include <algorithm>

#include "base/error.h"
#include "batching/alignment.h"
#include "data/loader/long_wait.h"

namespace odb {

class SharedPeers::Group final : public Peers {
 public:
  Group(SharedPeers& shared, int rank, std::int64_t generation)
      : shared_(shared), rank_(rank), generation_(generation) {}

  int rank() const override { return rank_; }
  int world() const override { return shared_.world_; }
  std::int64_t generation() const override { return generation_; }

  std::optional<std::vector<std::int64_t>> reduce(Reduction reduction,
                                                  std::vector<std::int64_t> values) override {
    const std::uint64_t stamp = SharedPeers::stamp(generation_, number_);
    const std::size_t place = static_cast<std::size_t>(number_++) % 2;
    contribute(values, stamp, place);
    for (int rank = 0; rank < shared_.world_; ++rank) {
      const RankState& words = shared_.rank_state(rank);
      const auto has_come = [&] { return words.contributed[place].load() == stamp; };
      LongWait wait;
      const auto superseded = [&] {
        wait.check([rank] { return fmt::format("rank {} to align", rank); });
        return shared_.state_->generation.load() != generation_;
      };
      if (superseded() || !wait_for(shared_.state_->changed, has_come, superseded))
        return std::nullopt;
      if (rank == rank_) continue;
      ODB_CHECK_EQ(words.count[place], values.size());
      combine(reduction, shared_.numbers(rank, place), values);
    }
    return values;
  }

 private:
  void contribute(const std::vector<std::int64_t>& values, std::uint64_t stamp, std::size_t place) {
    ODB_CHECK_LE(values.size(), shared_.max_numbers_);
    RankState& own = shared_.rank_state(rank_);
    std::copy(values.begin(), values.end(), shared_.numbers(rank_, place).begin());
    own.count[place] = values.size();
    own.contributed[place].store(stamp);
    shared_.state_->changed.wake();
  }

  SharedPeers& shared_;
  int rank_;
  std::int64_t generation_;
  std::int64_t number_ = 0;
};

class SharedPeers::Member final : public Membership {
 public:
  Member(SharedPeers& shared, int rank) : shared_(shared), rank_(rank) {}

  std::int64_t generation() override { return shared_.state_->generation.load(); }

  bool advance(std::int64_t from) override {
    const bool moved = shared_.state_->generation.compare_exchange_strong(from, from + 1);
    if (moved) shared_.state_->changed.wake();
    return moved;
  }

  std::unique_ptr<Peers> join(std::int64_t generation) override {
    const auto superseded = [&] { return shared_.state_->generation.load() != generation; };
    if (superseded()) return nullptr;
    RankState& own = shared_.rank_state(rank_);
    ODB_CHECK(own.joined.load() != generation + 1, "rank {} joins generation {} a second time",
              rank_, generation);
    own.joined.store(generation + 1);
    shared_.state_->changed.wake();
    const auto complete = [&] { return !shared_.first_missing(generation); };
    LongWait wait;
    const auto given_up = [&] {
      wait.check([&] {
        return fmt::format("rank {} to join generation {}",
                           shared_.first_missing(generation).value_or(rank_), generation);
      });
      return superseded();
    };
    if (!wait_for(shared_.state_->changed, complete, given_up)) return nullptr;
    return std::make_unique<Group>(shared_, rank_, generation);
  }

 private:
  SharedPeers& shared_;
  int rank_;
};

SharedPeers::SharedPeers(const std::string& name, int world, std::int64_t max_numbers)
    : world_(world),
      max_numbers_(static_cast<std::size_t>(max_numbers)),
      rank_bytes_(aligned(sizeof(RankState) + 2 * max_numbers_ * sizeof(std::int64_t), kCacheLine)),
      state_(name),
      memory_(name + "-ranks", static_cast<std::size_t>(world) * rank_bytes_) {
  ODB_CHECK_GE(world, 1);
}

std::int64_t max_numbers(const BatchingOptions& resolved) {
  return std::max(kOfferNumbers, kSlotNumbers * resolved.round_groups);
}

void SharedPeers::clear() {
  state_.clear();
  memory_.clear();
}

std::unique_ptr<Membership> SharedPeers::membership(int rank) {
  ODB_CHECK(rank >= 0 && rank < world_, "rank {} of {}", rank, world_);
  return std::make_unique<Member>(*this, rank);
}

SharedPeers::RankState& SharedPeers::rank_state(int rank) const {
  return memory_.objects<RankState>(static_cast<std::size_t>(rank) * rank_bytes_, 1).front();
}

std::span<std::int64_t> SharedPeers::numbers(int rank, std::size_t place) const {
  const std::size_t begin = static_cast<std::size_t>(rank) * rank_bytes_ + sizeof(RankState);
  return memory_.objects<std::int64_t>(begin, 2 * max_numbers_)
      .subspan(place * max_numbers_, max_numbers_);
}

std::optional<int> SharedPeers::first_missing(std::int64_t generation) const {
  for (int rank = 0; rank < world_; ++rank)
    if (rank_state(rank).joined.load() != generation + 1) return rank;
  return std::nullopt;
}

}  // namespace odb
