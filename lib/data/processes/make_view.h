// The making of one sample in a process that the sample may kill.
//
// Before the maker starts, the sample's number is noted in shared memory; a process that dies then
// is known to have died on it; one that hangs is killed. The process that takes over tries it once
// more. If that dies too, the third one does not try: the sample is bad.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "batching/item.h"
#include "data/processes/lane_control.h"
#include "data/processes/view_maker.h"

namespace odb {

// Crashes on one sample that make it a bad one.
inline constexpr std::int32_t kCrashesOfBadSample = 2;

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
ViewAnswer make_view(ViewMaker& maker, MakerState& state, const MakingRules& rules, ViewId view,
                     std::int64_t epoch, Sample& sample);

}  // namespace odb
