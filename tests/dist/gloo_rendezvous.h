// Connects the ranks of the fault runs over Gloo: a store in the test's process.
#pragma once

#include <optional>
#include <string>

#include "dist/gloo_membership.h"
#include "fault_runs.h"

namespace odb {

class GlooRendezvous {
 public:
  explicit GlooRendezvous(int world) {
    place_.membership = [world](int rank) {
      return membership_over_gloo({.prefix = "test/", .rank = rank, .world = world});
    };
    place_.host = [this] {  // once all data processes are forked: it has threads
      store_ = Store::host({"127.0.0.1", 0});
      return to_text(store_->address());
    };
  }
  GlooRendezvous(const GlooRendezvous&) = delete;
  GlooRendezvous& operator=(const GlooRendezvous&) = delete;

  const TestRendezvous* get() const { return &place_; }

 private:
  std::optional<Store> store_;
  TestRendezvous place_;
};

}  // namespace odb
