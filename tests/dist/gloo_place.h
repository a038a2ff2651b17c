// Connects the ranks of the fault runs over Gloo: a store in the test's process.
#pragma once

#include <optional>
#include <string>

#include "dist/gloo_membership.h"
#include "fault_runs.h"

namespace odb {

class GlooPlace {
 public:
  explicit GlooPlace(int world) {
    place_.membership = [world](int rank) {
      return membership_over_gloo({.prefix = "test/", .rank = rank, .world = world});
    };
    place_.host = [this] {  // once all data processes are forked: it has threads
      store_ = Store::host({"127.0.0.1", 0});
      return to_text(store_->address());
    };
  }
  GlooPlace(const GlooPlace&) = delete;
  GlooPlace& operator=(const GlooPlace&) = delete;

  const MeetingPlace* get() const { return &place_; }

 private:
  std::optional<Store> store_;
  MeetingPlace place_;
};

}  // namespace odb
