// Property tests whose cases are the same on every run: rapidcheck under a fixed seed. RC_PARAMS in
// the environment ("seed=7 max_success=1000") asks for others; a failure prints its smallest case.
#pragma once

#include <rapidcheck.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

#include "catch.h"

namespace odb {

// Runs `testable` (with RC_ASSERT inside) `cases` times on generated arguments; fails the running
// test case when it does not hold.
template <typename Testable>
void check_property(const std::string& what, int cases, Testable&& testable) {
  static const bool asked = std::getenv("RC_PARAMS") != nullptr;
  ::setenv("RC_PARAMS", "seed=20", 0);  // before rapidcheck reads it, once
  rc::detail::TestParams parameters = rc::detail::configuration().testParams;
  if (!asked) parameters.maxSuccess = cases;
  rc::detail::TestMetadata metadata;
  metadata.description = what;
  const rc::detail::TestResult result =
      rc::detail::checkTestable(std::forward<Testable>(testable), metadata, parameters);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  INFO(what << ", seed " << parameters.seed << ": " << text.str());
  CHECK(result.template is<rc::detail::SuccessResult>());
}

}  // namespace odb
