#include "train/foreign_error.h"

#include <new>

#include <c10/util/Exception.h>
#include <fmt/format.h>

namespace odb {

Error named_error(const std::exception& error, const std::string& where, const std::string& doing) {
  if (const auto* own = dynamic_cast<const Error*>(&error)) return *own;
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = of_torch ? of_torch->what_without_backtrace() : error.what();
  const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                      dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr;
  if (memory)
    return UsageError(
        "out of memory on {} while {}: {}; a lower --l-max or --recompute block takes less", where,
        doing, text);
  return InternalError("internal error while {}: {}", doing, text);
}

}  // namespace odb
