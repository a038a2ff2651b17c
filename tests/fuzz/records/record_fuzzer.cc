// Any bytes as one record: parsed, rendered by every template, labeled. The only error may be a
// DataError, and each sample must obey its own rules.
#include <cstddef>
#include <cstdint>

#include "sample/survive_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  odb::survive_record({reinterpret_cast<const char*>(data), size});
  return 0;
}
