// The making of one sample in a process that the sample may kill.
//
// Before the maker starts, the sample's number is noted in shared memory; a process that dies then
// is known to have died on it; one that hangs is killed. The process that takes over tries it once
// more. If that dies too, the third one does not try: the sample is bad. A sample that was good in
// an earlier life of collate is tried once more than that, after a pause: what killed its process
// (most often want of memory) may pass, and the run has more to lose.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "batching/item.h"
#include "data/processes/lane_control.h"
#include "data/processes/view_maker.h"

namespace odb {

// Crashes on one sample that make it a bad one.
inline constexpr std::int32_t kCrashesOfBadSample = 2;
inline constexpr std::int32_t kCrashesOfOnceGoodSample = 3;

// What is asked for.
struct ViewRequest {
  ViewId view = 0;
  std::int64_t epoch = 0;
  std::int32_t max_crashes = kCrashesOfBadSample;
};

// What became of a view.
enum class AnswerKind : std::uint32_t {
  sample,
  left_out,  // with a reason
  failed     // the run is to end, with an exit code and a text
};

struct ViewAnswer {
  AnswerKind kind = AnswerKind::sample;
  LeftOutReason reason = LeftOutReason::bad_record;
  ExitCode code = ExitCode::done;
  std::string text;  // failed: why; left out as bad: what is wrong with it
};

struct MakingRules {
  bool skip_bad = false;     // --on-bad-sample skip
  std::int64_t longest = 0;  // tokens that a sample may have: what a batch slot has room for
};

// Makes `view` into `sample`, which is whole only when the answer says so. Lets std::bad_alloc
// through: the process ends with it.
ViewAnswer make_view(ViewMaker& maker, MakerState& state, const MakingRules& rules,
                     const ViewRequest& request, Sample& sample);

// How long to wait before make_view() of a request: only where a sample that was good before has
// crashed its process since. The caller waits, so that it shows signs of life meanwhile.
std::chrono::milliseconds pause_before(const MakerState& state, const ViewRequest& request);

}  // namespace odb
