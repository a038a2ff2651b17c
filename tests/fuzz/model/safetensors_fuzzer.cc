// Any bytes as a safetensors file: a header whose tensors cover the data exactly, or a FileError.
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "model/files/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace odb;
  constexpr std::uint64_t kDataBegin = 8;
  if (size == 0) return 0;
  // The first byte is how many bytes of data follow the header.
  const std::uint64_t file_size = kDataBegin + (size - 1) + data[0];
  const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const SafetensorsHeader header =
        parse_safetensors_header(json, kDataBegin + json.size(), file_size, "f");
    std::uint64_t reached = kDataBegin + json.size();
    for (const TensorInfo& tensor : header.tensors) {
      ODB_CHECK_EQ(tensor.begin, reached);
      ODB_CHECK_LE(tensor.end, file_size);
      reached = tensor.end;
    }
    ODB_CHECK_EQ(reached, file_size);
  } catch (const FileError&) {
  }
  return 0;
}
