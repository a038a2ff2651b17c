// The verdict of `doctor` on the facts: one check per line, each with what to do if it is not ok.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "base/machine.h"

namespace odb {

enum class CheckStatus {
  ok,
  warn,  // training works, but slower, or not in every set-up
  fail   // training cannot work
};

// "ok", "warn", "fail".
const char* to_text(CheckStatus status);

struct Check {
  CheckStatus status = CheckStatus::ok;
  std::string name;    // "memory"
  std::string found;   // "24.0 GiB, 20.1 GiB available, not limited by control groups"
  std::string advice;  // what to do; empty when ok
  friend bool operator==(const Check&, const Check&) = default;
};

// In a fixed order: always the same checks, plus one per folder.
std::vector<Check> check_machine(const MachineFacts& facts);

// The worst status; ok for an empty list.
CheckStatus worst(const std::vector<Check>& checks);

}  // namespace odb
