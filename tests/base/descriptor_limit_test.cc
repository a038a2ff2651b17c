// Limits on descriptors and threads: each test changes the limits of a forked process.
#include "base/descriptor_limit.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/error.h"
#include "base/start_thread.h"
#include "catch.h"

namespace odb {
namespace {

// The exit code of a process with this limit in which `act` is called.
int code_under(int resource, rlimit limit, const std::function<void()>& act) {
  const pid_t process = ::fork();
  if (process == 0) {
    int code = 0;
    try {
      if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) code = 99;
      // The limit on processes does not hold for root.
      if (resource == RLIMIT_NPROC && ::getuid() == 0 && ::setuid(54321) != 0) code = 98;
      if (code == 0) act();
    } catch (const Error& error) {
      code = static_cast<int>(error.code());
    }
    ::_exit(code);
  }
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("the soft limit of descriptors is raised to the hard one") {
  CHECK(code_under(RLIMIT_NOFILE, {.rlim_cur = 40, .rlim_max = 100}, [] {
          if (raise_descriptor_limit() != 100) ::_exit(1);
          rlimit limit = {};
          ::getrlimit(RLIMIT_NOFILE, &limit);
          if (limit.rlim_cur != 100) ::_exit(2);
        }) == 0);
}

TEST_CASE("rank 0 of many ranks is refused where it may not have a connection to each") {
  CHECK(needed_descriptors(0, 1) == 64);
  CHECK(needed_descriptors(0, 1000) == 6064);
  CHECK(needed_descriptors(1, 1000) == 64);
  const rlimit limit{.rlim_cur = 100, .rlim_max = 4096};
  const int refused = static_cast<int>(ExitCode::usage);
  CHECK(code_under(RLIMIT_NOFILE, limit, [] { require_descriptors(0, 672); }) == 0);
  CHECK(code_under(RLIMIT_NOFILE, limit, [] { require_descriptors(0, 673); }) == refused);
  CHECK(code_under(RLIMIT_NOFILE, limit, [] { require_descriptors(1, 673); }) == 0);
  CHECK(code_under(RLIMIT_NOFILE, limit, [] {
          try {
            require_descriptors(0, 1000);
          } catch (const UsageError& error) {
            const std::string text = error.what();
            if (text.find("4096") == text.npos || text.find("6064") == text.npos) ::_exit(1);
            throw;
          }
        }) == refused);
}

TEST_CASE("a system that permits no further thread is named") {
  const rlimit limit{.rlim_cur = 1, .rlim_max = 1};
  CHECK(code_under(RLIMIT_NPROC, limit, [] { start_thread([] {}).join(); }) ==
        static_cast<int>(ExitCode::files));
  CHECK(code_under(RLIMIT_NPROC, {.rlim_cur = 100, .rlim_max = 100},
                   [] { start_thread([] {}).join(); }) == 0);
}

}  // namespace odb
