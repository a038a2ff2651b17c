#include "train/session/foreign_error.h"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "base/start_thread.h"

namespace odb {
namespace {

// Messages of LibTorch for host memory, and of CUDA for memory outside the caching allocator. These
// errors have no type of their own.
constexpr std::array<std::string_view, 3> kNoMemory = {"DefaultCPUAllocator: can't allocate memory",
                                                       "DefaultCPUAllocator: not enough memory",
                                                       "CUDA error: out of memory"};

bool is_out_of_memory(const std::exception& error, std::string_view text) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
         std::ranges::any_of(kNoMemory, [&](std::string_view words) {
           return text.find(words) != std::string_view::npos;
         });
}

}  // namespace

Error named_error(const std::exception& error, const std::string& where, const std::string& doing) {
  if (const auto refusal = thread_refusal(error)) return *refusal;
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = of_torch ? of_torch->what_without_backtrace() : error.what();
  if (is_out_of_memory(error, text))
    return UsageError(
        "out of memory on {} while {}: {}; a lower --l-max or --recompute block takes less", where,
        doing, text);
  return InternalError("internal error while {}: {}", doing, text);
}

}  // namespace odb
