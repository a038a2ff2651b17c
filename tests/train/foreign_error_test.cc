#include "train/foreign_error.h"

#include <new>

#include <c10/util/Exception.h>
#include <catch2/catch.hpp>

#include "base/error.h"

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

TEST_CASE("Other faults of LibTorch are internal, and told without their backtrace") {
  const c10::Error error({__func__, __FILE__, __LINE__}, "sizes do not match");
  const Error named = named_error(error, "cpu", "evaluating");
  CHECK(named.code() == ExitCode::internal);
  CHECK_THAT(named.what(), Contains("while evaluating: sizes do not match"));
  CHECK_THAT(named.what(), !Contains("frame #"));
}

TEST_CASE("An error with a kind keeps it") {
  const Error named = named_error(DataError("a.jsonl:3: cut"), "cpu", "training");
  CHECK(named.code() == ExitCode::data);
  CHECK(std::string(named.what()) == "a.jsonl:3: cut");
}

}  // namespace
}  // namespace odb
