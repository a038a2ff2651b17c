#include "base/failure.h"

#include "base/error.h"
#include "catch.h"

using namespace odb;

TEST_CASE("an error carries its failure, and a lost peer is never the cause of other ends") {
  CHECK(DataError("row {}", 7).failure() ==
        Failure{.code = ExitCode::data, .cause = FailureCause::own, .message = "row 7"});
  CHECK(PeerLostError("gone").failure().cause == FailureCause::lost_rank);
  CHECK(Error(ExitCode::peer_lost, "gone").failure().cause == FailureCause::lost_rank);
  const Failure failure{ExitCode::files, 3, FailureCause::other_rank, "rank 3 has no room"};
  CHECK(Error(failure).failure() == failure);
  CHECK(std::string(Error(failure).what()) == "rank 3 has no room");
}

TEST_CASE("a failure passes through shared memory unchanged, and long messages are cut") {
  const Failure failure{ExitCode::data, 2, FailureCause::own, "chat.jsonl:7: found no object"};
  CHECK(from_plain(to_plain(failure)) == failure);
  const Failure long_one{ExitCode::data, 2, FailureCause::own, std::string(5000, 'x')};
  CHECK(from_plain(to_plain(long_one)).message == std::string(PlainFailure::kMaxMessage, 'x'));
}

TEST_CASE("a damaged plain failure is read without harm") {
  PlainFailure plain = to_plain({ExitCode::data, 2, FailureCause::own, "x"});
  plain.size = 1u << 31;
  plain.cause = 99;
  const Failure read = from_plain(plain);
  CHECK(read.message.size() == PlainFailure::kMaxMessage);
  CHECK(read.cause == FailureCause::own);
}
