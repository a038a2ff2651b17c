// Prepares one sample in a process that the sample may kill.
//
// The sample's number is written to shared memory first, so that the death of the process can be
// blamed on it; a process that hangs is killed. The successor tries the sample once more. If that
// process dies too, the third one does not try: the sample is bad. A sample that was good in an
// earlier life of collate gets a third try, and a pause before each retry: the cause (usually low
// memory) may be temporary, and leaving the sample out could end the run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "batching/item.h"
#include "data/loader/samples/view_builder.h"
#include "data/loader/shared/loader_control.h"

namespace odb {

// Number of crashes after which a sample is bad.
inline constexpr std::int32_t kCrashesOfBadSample = 2;
inline constexpr std::int32_t kCrashesOfOnceGoodSample = 3;

// A request for a sample.
struct ViewRequest {
  ViewId view = 0;
  std::int64_t epoch = 0;
  std::int32_t max_crashes = kCrashesOfBadSample;
};

// The result for a view.
enum class AnswerKind : std::uint32_t {
  sample,
  left_out,  // with a reason
  failed     // the run must end, with an exit code and a message
};

struct ViewAnswer {
  AnswerKind kind = AnswerKind::sample;
  LeftOutReason reason = LeftOutReason::bad_record;
  ExitCode code = ExitCode::done;
  std::string text;  // failed: why; left out as bad: the problem
};

struct PreprocessingOptions {
  bool skip_bad = false;     // --on-bad-sample skip
  std::int64_t longest = 0;  // maximum tokens of a sample: the capacity of a slot
};

// Prepares `view` into `sample`, which is complete only if the answer is kind sample. Does not
// catch std::bad_alloc: it ends the process.
ViewAnswer build_view(ViewBuilder& builder, BuilderState& state,
                      const PreprocessingOptions& options, const ViewRequest& request,
                      Sample& sample);

// How long to wait before build_view() of a request: not zero only if a sample that was good before
// has crashed its process since. The caller waits, so that it shows signs of life meanwhile.
std::chrono::milliseconds pause_before(const BuilderState& state, const ViewRequest& request);

}  // namespace odb
