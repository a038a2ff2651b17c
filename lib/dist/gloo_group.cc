#include "dist/gloo_group.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <span>

#include <ATen/ops/from_blob.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "base/error.h"
#include "dist/exchange_plan.h"
#include "dist/gloo_process_group.h"

namespace odb {

class GlooGroup::Connections {
 public:
  Connections(const Store& store, const GlooGroupOptions& options)
      : plan_(exchange_plan(options.rank, options.world)),
        group_(gloo_process_group(store, options)) {}

  ~Connections() {
    try {
      close_connections(*group_, contacted_);
    } catch (const std::exception&) {  // from Gloo: there is nothing left to close
    }
  }

  bool reduce(const Combine& combine, std::vector<std::int64_t>& values) {
    // A message starts with the number of its values.
    sent_.assign(1, static_cast<std::int64_t>(values.size()));
    sent_.insert(sent_.end(), values.begin(), values.end());
    received_.resize(sent_.size());
    for (const Exchange& exchange : plan_) {
      if (!perform(exchange)) return false;
      if (exchange.kind == ExchangeKind::give) continue;
      ODB_CHECK(received_[0] == sent_[0], "rank {} reduces {} values where this rank reduces {}",
                exchange.peer, received_[0], sent_[0]);
      if (exchange.kind == ExchangeKind::replace)
        sent_ = received_;
      else
        combine(std::span(received_).subspan(1), std::span(sent_).subspan(1));
    }
    std::copy(sent_.begin() + 1, sent_.end(), values.begin());
    return true;
  }

  void interrupt() {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    for (const Work& work : {send_, receive_})
      if (work) work->abort();
  }

  int lost_peer() const { return lost_peer_; }

 private:
  using Work = c10::intrusive_ptr<c10d::Work>;

  // False: interrupted or broken.
  bool perform(const Exchange& exchange) {
    try {
      Work receive, send;
      contacted_.insert(exchange.peer);
      if (exchange.kind != ExchangeKind::give) {
        receiving_ = {view(received_)};
        receive = group_->recv(receiving_, exchange.peer, kTag);
      }
      if (exchange.kind == ExchangeKind::swap || exchange.kind == ExchangeKind::give) {
        sending_ = {view(sent_)};
        send = group_->send(sending_, exchange.peer, kTag);
      }
      return begin_wait(send, receive) && (!receive || receive->wait(kNoLimit)) &&
             (!send || send->wait(kNoLimit)) && begin_wait({}, {});
    } catch (const std::exception&) {  // from Gloo: the connection is closed, or cannot be made
      lost_peer_ = exchange.peer;
      return false;
    }
  }

  // Registers two works for interrupt(). False: it came before.
  bool begin_wait(const Work& send, const Work& receive) {
    const std::lock_guard lock(mutex_);
    send_ = send;
    receive_ = receive;
    return !interrupted_;
  }

  static at::Tensor view(std::vector<std::int64_t>& values) {
    return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kLong);
  }

  // Back pressure is not a fault. Gloo counts in nanoseconds: well below 292 years.
  static constexpr std::chrono::hours kNoLimit{24 * 365 * 10};
  static constexpr int kTag = 0;  // one message at a time between two ranks

  const std::vector<Exchange> plan_;
  std::set<int> contacted_;
  std::vector<std::int64_t> sent_;
  std::vector<std::int64_t> received_;
  std::vector<at::Tensor> sending_;
  std::vector<at::Tensor> receiving_;
  std::mutex mutex_;  // of what interrupt() touches
  bool interrupted_ = false;
  Work send_;
  Work receive_;
  std::atomic<int> lost_peer_ = -1;
  c10::intrusive_ptr<c10d::Backend> group_;  // last: closed first
};

GlooGroup::GlooGroup(const Store& store, const GlooGroupOptions& options)
    : connections_(std::make_unique<Connections>(store, options)) {}
GlooGroup::~GlooGroup() = default;

bool GlooGroup::reduce(Reduction reduction, std::vector<std::int64_t>& values) {
  return reduce([reduction](auto received, auto own) { combine(reduction, received, own); },
                values);
}

bool GlooGroup::reduce(const Combine& combine, std::vector<std::int64_t>& values) {
  return connections_->reduce(combine, values);
}

int GlooGroup::lost_peer() const {
  return connections_->lost_peer();
}
void GlooGroup::interrupt() {
  connections_->interrupt();
}

}  // namespace odb
