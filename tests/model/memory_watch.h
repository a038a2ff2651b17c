// Measures the peak of what LibTorch holds on the CPU for the calling thread while it lives, beyond
// what was held before. Takes the place of LibTorch's own profiler.
#pragma once

#include <algorithm>
#include <memory>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace odb {

class MemoryWatch {
 public:
  std::int64_t peak() const { return counter_->peak; }

 private:
  struct Counter final : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void*, std::int64_t change, std::size_t, std::size_t,
                           c10::Device) override {
      now += change;
      peak = std::max(peak, now);
    }
    bool memoryProfilingEnabled() const override { return true; }

    std::int64_t now = 0;
    std::int64_t peak = 0;
  };

  std::shared_ptr<Counter> counter_ = std::make_shared<Counter>();
  c10::DebugInfoGuard guard_{c10::DebugInfoKind::PROFILER_STATE, counter_};
};

}  // namespace odb
