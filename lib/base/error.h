// Named kinds of failure and the exit codes they become.
//
// Code inside the libraries throws one of the kinds below; exactly one place per process role
// (apps/trainer/main.cc for commands) turns it into a message and an exit code. A message says what
// was found, what was expected, where (file:line, tensor, option, rank) and what to do. Broken
// invariants are checked with ODB_CHECK*, which print their operands and throw InternalError; they
// never judge user input.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/failure.h"

namespace odb {

// Base of all errors that odb-trainer throws on purpose.
class Error : public std::runtime_error {
 public:
  explicit Error(Failure failure)
      : std::runtime_error(failure.message), failure_(std::move(failure)) {}
  Error(ExitCode code, std::string message)
      : Error(Failure{.code = code, .cause = usual_cause(code), .message = std::move(message)}) {}

  const Failure& failure() const { return failure_; }
  ExitCode code() const { return failure_.code; }

 private:
  Failure failure_;
};

// One class per kind. Each takes a fmt format string: `throw DataError("{}:{}: found {}", file,
// line, what)`.
template <ExitCode kCode>
class ErrorOf : public Error {
 public:
  template <typename... Args>
  explicit ErrorOf(fmt::format_string<Args...> format, Args&&... args)
      : Error(Failure{.code = kCode,
                      .cause = usual_cause(kCode),
                      .message = fmt::format(format, std::forward<Args>(args)...)}) {}
};

using UsageError = ErrorOf<ExitCode::usage>;
using DataError = ErrorOf<ExitCode::data>;
using FileError = ErrorOf<ExitCode::files>;
using PeerLostError = ErrorOf<ExitCode::peer_lost>;
using DivergedError = ErrorOf<ExitCode::diverged>;
using InternalError = ErrorOf<ExitCode::internal>;

// Another rank failed. This one ends for that reason, with the same exit code.
class OtherRankFailed : public Error {
 public:
  OtherRankFailed(ExitCode code, std::string message, int rank = kUnknownRank)
      : Error(Failure{.code = code,
                      .rank = rank,
                      .cause = FailureCause::other_rank,
                      .message = std::move(message)}) {}
};

// The failure of an exception that is an Error.
Failure failure_of(const std::exception_ptr& error);

// The text of errno value `error_number` with its number, e.g. "No space left on device (errno
// 28)".
std::string errno_text(int error_number);

namespace detail {
[[noreturn]] void check_failed(const char* file, int line, const char* expression,
                               const std::string& operands);

// How an operand is printed: enums as their number, which fmt 10 no longer does by itself.
template <typename T>
decltype(auto) printable(const T& operand) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(operand);
  } else {
    return (operand);
  }
}

template <typename A, typename B>
[[noreturn]] void comparison_failed(const char* file, int line, const char* expression, const A& a,
                                    const B& b) {
  check_failed(file, line, expression, fmt::format("{} vs. {}", printable(a), printable(b)));
}
}  // namespace detail
}  // namespace odb

// ODB_CHECK(condition, "format", args...) checks an invariant; the message explains what it means
// when the invariant is broken.
#define ODB_CHECK(condition, ...) \
  (static_cast<bool>(condition)   \
       ? void(0)                  \
       : ::odb::detail::check_failed(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)))

#define ODB_CHECK_COMPARE_(a, op, b)                                                       \
  do {                                                                                     \
    const auto& odb_check_a = (a);                                                         \
    const auto& odb_check_b = (b);                                                         \
    if (!(odb_check_a op odb_check_b))                                                     \
      ::odb::detail::comparison_failed(__FILE__, __LINE__, #a " " #op " " #b, odb_check_a, \
                                       odb_check_b);                                       \
  } while (false)

#define ODB_CHECK_EQ(a, b) ODB_CHECK_COMPARE_(a, ==, b)
#define ODB_CHECK_NE(a, b) ODB_CHECK_COMPARE_(a, !=, b)
#define ODB_CHECK_LT(a, b) ODB_CHECK_COMPARE_(a, <, b)
#define ODB_CHECK_LE(a, b) ODB_CHECK_COMPARE_(a, <=, b)
#define ODB_CHECK_GT(a, b) ODB_CHECK_COMPARE_(a, >, b)
#define ODB_CHECK_GE(a, b) ODB_CHECK_COMPARE_(a, >=, b)
