#include "train/session/foreign_error.h"

#include <new>

#include <c10/util/Exception.h>
#include <torch/types.h>

#include "base/error.h"
#include "catch.h"

namespace odb {
namespace {

using Catch::Contains;

TEST_CASE("Memory that LibTorch or the program cannot have is a matter of options") {
  const c10::OutOfMemoryError of_device({__func__, __FILE__, __LINE__},
                                        "Tried to allocate 20.00 GiB");
  const std::bad_alloc of_host;
  for (const std::exception* error : {static_cast<const std::exception*>(&of_device),
                                      static_cast<const std::exception*>(&of_host)}) {
    const Error named = named_error(*error, "cuda:1", "training");
    CHECK(named.code() == ExitCode::usage);
    CHECK_THAT(named.what(), Contains("out of memory on cuda:1 while training"));
    CHECK_THAT(named.what(), Contains("--recompute block"));
  }
  CHECK_THAT(named_error(of_device, "cuda:1", "training").what(), Contains("20.00 GiB"));
}

TEST_CASE("Other faults of LibTorch are internal, and reported without their backtrace") {
  const c10::Error error({__func__, __FILE__, __LINE__}, "sizes do not match");
  const Error named = named_error(error, "cpu", "evaluating");
  CHECK(named.code() == ExitCode::internal);
  CHECK_THAT(named.what(), Contains("while evaluating: sizes do not match"));
  CHECK_THAT(named.what(), !Contains("frame #"));
}

// LibTorch has no type for it, so it is recognized by its message, which is caused here.
TEST_CASE("Host memory that LibTorch cannot have is a matter of options, too") {
  try {
    (void)torch::empty({std::int64_t{1} << 60}, torch::kByte);
    FAIL("an exbibyte was there");
  } catch (const std::exception& error) {
    INFO(error.what());
    CHECK(dynamic_cast<const c10::OutOfMemoryError*>(&error) == nullptr);
    const Error named = named_error(error, "cpu", "training");
    CHECK(named.code() == ExitCode::usage);
    CHECK_THAT(named.what(), Contains("out of memory on cpu while training: "));
  }
}

}  // namespace
}  // namespace odb
