#include "doctor/check.h"

#include <algorithm>

namespace odb {

const char* name(CheckStatus status) {
  switch (status) {
    case CheckStatus::ok:
      return "ok";
    case CheckStatus::warn:
      return "warn";
    case CheckStatus::fail:
      return "fail";
  }
  return "unknown";
}

CheckStatus worst(const std::vector<Check>& checks) {
  CheckStatus result = CheckStatus::ok;
  for (const Check& check : checks)
    result = std::max(result, check.status);
  return result;
}

}  // namespace odb
