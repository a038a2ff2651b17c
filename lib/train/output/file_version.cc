#include "train/output/file_version.h"

#include <limits>

#include "base/error.h"

namespace odb {

void require_version(const JsonObjectReader& object, std::int64_t expected) {
  const std::int64_t version =
      object.integer("version", 0, std::numeric_limits<std::int64_t>::max());
  if (version != expected)
    throw FileError(
        "{}: found version {}, this odb-trainer reads version {}; continue with the release that "
        "wrote it",
        object.where(), version, expected);
}

}  // namespace odb
