// What a rank hands to its launch, with the launch's end of both in this process.
#include "base/launch_channel.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "catch.h"

using namespace odb;

namespace {

// A variable of the environment that names a descriptor, for as long as it lives.
class Handed {
 public:
  Handed(const char* variable, int descriptor) : variable_(variable) {
    ::setenv(variable, std::to_string(descriptor).c_str(), 1);
  }
  ~Handed() { ::unsetenv(variable_); }
  Handed(const Handed&) = delete;
  Handed& operator=(const Handed&) = delete;

 private:
  const char* variable_;
};

std::string phase_in(int file) {
  char bytes[kMaxPhaseBytes + 1] = {};
  REQUIRE(::pread(file, bytes, kMaxPhaseBytes, 0) >= 0);
  return bytes;
}

}  // namespace

TEST_CASE("without a launch a rank prints its final error itself") {
  PhaseChannel().publish("training");
  CHECK_FALSE(report_final_error({.message = "no model"}));
}

TEST_CASE("a phase replaces the one before, and is cut when it is too long") {
  const int file = ::memfd_create("phase", 0);
  REQUIRE(file >= 0);
  const Handed handed(kPhaseVariable, file);
  const PhaseChannel channel;
  CHECK(phase_in(file).empty());
  channel.publish("loading the model");
  CHECK(phase_in(file) == "loading the model");
  channel.publish("saving");
  CHECK(phase_in(file) == "saving");
  channel.publish(std::string(1000, 'x'));
  CHECK(phase_in(file) == std::string(kMaxPhaseBytes, 'x'));
  ::close(file);
}

TEST_CASE("the environment is read once, later changes do not redirect the phase") {
  const int file = ::memfd_create("phase", 0);
  REQUIRE(file >= 0);
  std::optional<PhaseChannel> channel;
  {
    const Handed handed(kPhaseVariable, file);
    channel.emplace();
  }
  channel->publish("training");
  CHECK(phase_in(file) == "training");
  ::close(file);
}

TEST_CASE("the final error goes into the pipe, and nobody has to read meanwhile") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const Handed handed(kFinalErrorVariable, ends[1]);
  const Failure failure{ExitCode::files, 2, FailureCause::other_rank, "rank 2 failed: no model"};
  CHECK(report_final_error(failure));
  CHECK(report_final_error({.message = std::string(100000, 'x')}));
  CHECK(take_final_error(ends[0]) == failure);
  CHECK(take_final_error(ends[0])->message.size() == PlainFailure::kMaxMessage);
  CHECK(::close(ends[1]) == 0);
  CHECK_FALSE(take_final_error(ends[0]));  // its writer is gone
  ::close(ends[0]);
}
