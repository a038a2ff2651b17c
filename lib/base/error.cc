#include "base/error.h"

#include <cstring>

namespace odb {

std::string errno_text(int error_number) {
  return fmt::format("{} (errno {})", std::strerror(error_number), error_number);
}

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& caught) {
    return caught.failure();
  }
}

namespace detail {
void check_failed(const char* file, int line, const char* expression, const std::string& operands) {
  throw InternalError(
      "{}:{}: invariant broken: {} ({}). This is a fault in odb-trainer; please report it.", file,
      line, expression, operands);
}
}  // namespace detail
}  // namespace odb
