#include "base/start_thread.h"

namespace odb {

std::optional<FileError> thread_refusal(const std::exception& error) {
  const auto* const refused = dynamic_cast<const std::system_error*>(&error);
  if (refused == nullptr || refused->code() != std::errc::resource_unavailable_try_again)
    return std::nullopt;
  return FileError(
      "cannot start a thread: {}; raise the limit on processes, which counts threads (ulimit -u; "
      "containers: --pids-limit), or use fewer --threads or --data-workers",
      errno_text(refused->code().value()));
}

}  // namespace odb
