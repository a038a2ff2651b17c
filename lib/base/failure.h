// One failure, from the place where it happens to the exit code of the run.
//
// A failure is made once, as an Error (base/error.h), and then carried on: through shared memory
// and pipes (PlainFailure), between ranks (the store), and to the launch that started the rank. Who
// must decide something about it reads `code`, `rank` and `cause`, never the message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace odb {

// The exit codes of every odb-trainer command. Schedulers and scripts rely on them: numbers are
// frozen.
enum class ExitCode : int {
  done = 0,
  usage = 2,          // usage or configuration
  data = 3,           // a record, tokenizer, template or data file
  files = 4,          // a model or checkpoint file, or the run folder
  peer_lost = 5,      // another rank is gone or timed out
  diverged = 6,       // non-finite loss or gradient
  internal = 70,      // a broken invariant: a fault in odb-trainer itself
  saved = 75,         // saved, please start again (preempted or out of time)
  interrupted = 130,  // ended by a second Ctrl-C
  broken_pipe = 141   // the reader of standard output left, as in `| head` (128 + SIGPIPE)
};

// Why the process that has the failure ends.
enum class FailureCause : std::uint8_t {
  own,         // it happened in this rank, and explains the end of the others
  other_rank,  // another rank failed: `rank`, if this one knows which
  lost_rank    // another rank fell silent, or the connection to it broke: nothing more is known
};

// The cause of failures with this code that name no other: a rank that ends with `peer_lost` is
// never the reason why others end.
constexpr FailureCause usual_cause(ExitCode code) {
  return code == ExitCode::peer_lost ? FailureCause::lost_rank : FailureCause::own;
}

inline constexpr int kUnknownRank = -1;

struct Failure {
  ExitCode code = ExitCode::internal;
  int rank = kUnknownRank;  // where it happened; the rank that was lost
  FailureCause cause = FailureCause::own;
  std::string message;

  friend bool operator==(const Failure&, const Failure&) = default;
};

// A failure that can lie in shared memory or pass through a pipe. Trivially copyable; zeros are the
// value of ExitCode::done.
struct PlainFailure {
  static constexpr std::size_t kMaxMessage = 3999;  // longer ones are cut

  std::int32_t code = 0;
  std::int32_t rank = 0;
  std::uint32_t cause = 0;
  std::uint32_t size = 0;
  char message[kMaxMessage + 1] = {};
};

PlainFailure to_plain(const Failure& failure);
// An unknown cause becomes `own`; a size beyond the room is cut.
Failure from_plain(const PlainFailure& plain);

}  // namespace odb
