#include "base/error.h"

#include <cerrno>

#include "catch.h"

using namespace odb;

TEST_CASE("each kind of error carries its exit code and its message") {
  try {
    throw DataError("{}:{}: found {}", "chat.jsonl", 7, "no object");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::data);
    CHECK(std::string(error.what()) == "chat.jsonl:7: found no object");
  }
  CHECK(UsageError("x").code() == ExitCode::usage);
  CHECK(FileError("x").code() == ExitCode::files);
  CHECK(PeerLostError("x").code() == ExitCode::peer_lost);
  CHECK(DivergedError("x").code() == ExitCode::diverged);
  CHECK(InternalError("x").code() == ExitCode::internal);
}

TEST_CASE("a broken invariant prints both operands, the expression and the place") {
  const int taken = 3;
  const int expected = 5;
  REQUIRE_NOTHROW([&] { ODB_CHECK_LT(taken, expected); }());
  try {
    ODB_CHECK_EQ(taken, expected);
    FAIL("the check did not throw");
  } catch (const InternalError& error) {
    const std::string text = error.what();
    CHECK(text.find("taken == expected") != std::string::npos);
    CHECK(text.find("3 vs. 5") != std::string::npos);
    CHECK(text.find("tests/base/error_test.cc:") == 0);
  }
}

TEST_CASE("ODB_CHECK evaluates its condition once and formats only on failure") {
  int evaluated = 0;
  ODB_CHECK(++evaluated == 1, "never shown");
  CHECK(evaluated == 1);
  CHECK_THROWS_AS(ODB_CHECK(evaluated == 2, "slot {}", 9), InternalError);
}

TEST_CASE("errno values are printed as text and as a number") {
  CHECK(errno_text(ENOSPC) == "No space left on device (errno 28)");
}
