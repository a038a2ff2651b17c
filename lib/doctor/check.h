// What `doctor` finds out about one property of the machine, and what to do about it.
#pragma once

#include <string>
#include <vector>

namespace odb {

enum class CheckStatus {
  ok,
  warn,  // training works, but slower, or not in every set-up
  fail   // training cannot work
};

// "ok", "warn", "fail".
const char* name(CheckStatus status);

struct Check {
  CheckStatus status = CheckStatus::ok;
  std::string name;    // "memory"
  std::string found;   // "24.0 GiB, 20.1 GiB available, not limited by control groups"
  std::string advice;  // what to do; empty when ok
  friend bool operator==(const Check&, const Check&) = default;
};

// The worst status; ok for an empty list.
CheckStatus worst(const std::vector<Check>& checks);

}  // namespace odb
