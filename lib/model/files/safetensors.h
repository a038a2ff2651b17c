// The safetensors format: tensors by name in one file that can be read in place.
//
//   u64 little-endian   bytes of the header, at most 100,000,000
//   header              JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
//                       "__metadata__": {"key": "text"}}, blanks after it
//   data                the tensors' bytes, little-endian, row by row; offsets count from here
//
// The tensors cover the data without gap or overlap, up to the end of the file. All of that is
// checked before a tensor is read, so a cut or patched file is never half read. (Format:
// huggingface/safetensors, README.)
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "model/files/tensor_type.h"

namespace odb {

using TensorShape = std::vector<std::int64_t>;
std::string shape_text(const TensorShape& shape);  // "[2, 3]"

struct TensorInfo {
  std::string name;
  TensorType type = TensorType::f32;
  TensorShape shape;
  std::uint64_t begin = 0;  // bytes from the start of the file
  std::uint64_t end = 0;

  std::uint64_t bytes() const { return end - begin; }
};

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  // in the order of their bytes
  std::map<std::string, std::string> metadata;
};

// `json`: the header without its length; `data_begin`, `file_size`: where the data starts and ends.
// Throws FileError that begins with `where` and names the tensor, what was found and expected.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_begin,
                                           std::uint64_t file_size, const std::string& where);

// Reads and checks the header of a file; none of the data.
SafetensorsHeader read_safetensors_header(FileSystem& files, const std::string& path);

// A tensor to be written. `bytes` is called once, when its turn comes; the result must stay valid
// until the next call.
struct TensorToWrite {
  std::string name;
  TensorType type = TensorType::f32;
  TensorShape shape;
  std::function<std::string_view()> bytes;

  std::uint64_t size() const;  // bytes, by type and shape
};

// Writes one file durably (DurableFile): it has its name only when it is whole. The header is
// padded so that the data starts at a multiple of 8. Equal tensors give equal files.
void write_safetensors(FileSystem& files, const std::string& path,
                       std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace odb
