#include "model/files/safetensors.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/ranges.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json_reader.h"

namespace odb {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::string_view kMetadata = "__metadata__";

using EntryReader = BasicJsonObjectReader<SortedJson>;

// Elements times bytes; refuses what does not fit 63 bits.
std::uint64_t shape_bytes(const TensorShape& shape, TensorType type, const std::string& where) {
  std::uint64_t bytes = bytes_per_element(type);
  for (const std::int64_t length : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(length), &bytes) ||
        bytes > std::uint64_t{1} << 62)
      throw FileError("{}: shape {} is too large", where, shape_text(shape));
  }
  return bytes;
}

std::uint64_t whole_number(const SortedJson& value, const std::string& where) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 62;
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMax)
    throw FileError("{}: found {}, expected a whole number", where, found_json(value));
  return value.get<std::uint64_t>();
}

const SortedJson& list(const EntryReader& entry, const char* key) {
  const SortedJson* value = entry.find(key);
  if (value == nullptr || !value->is_array()) entry.refuse(key, "a list of whole numbers");
  return *value;
}

TensorInfo read_entry(const std::string& name, const SortedJson& json, std::uint64_t data_begin,
                      const std::string& file) {
  const std::string where = fmt::format("{}: tensor {}", file, name);
  if (!json.is_object())
    throw FileError("{}: found {}, expected an object", where, found_json(json));
  const EntryReader entry(json, where);
  const auto type_name = entry.text_or_none("dtype");
  const auto type = tensor_type_of(type_name.value_or(""));
  if (!type) entry.refuse("dtype", "a known type such as F32 or BF16");
  TensorInfo tensor{.name = name, .type = *type};
  for (const SortedJson& length : list(entry, "shape"))
    tensor.shape.push_back(static_cast<std::int64_t>(whole_number(length, where + ": shape")));
  const SortedJson& offsets = list(entry, "data_offsets");
  if (offsets.size() != 2) entry.refuse("data_offsets", "a list of two offsets");
  const std::uint64_t begin = whole_number(offsets[0], where + ": data_offsets");
  const std::uint64_t end = whole_number(offsets[1], where + ": data_offsets");
  const std::uint64_t expected = shape_bytes(tensor.shape, *type, where);
  if (begin > end || end - begin != expected)
    throw FileError("{}: data_offsets [{}, {}]; expected {} bytes for {} of {}", where, begin, end,
                    expected, *type_name, shape_text(tensor.shape));
  tensor.begin = data_begin + begin;
  tensor.end = data_begin + end;
  return tensor;
}

std::map<std::string, std::string> read_metadata(const SortedJson& json, const std::string& file) {
  std::map<std::string, std::string> metadata;
  if (json.is_null()) return metadata;  // as the format's own library reads it
  if (!json.is_object())
    throw FileError("{}: {}: found {}, expected an object", file, kMetadata, found_json(json));
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string())
      throw FileError("{}: {}: {}: found {}, expected a text", file, kMetadata, key,
                      found_json(value));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Sorted by place, every byte of the data must belong to exactly one tensor.
void check_cover(const std::vector<TensorInfo>& tensors, std::uint64_t data_begin,
                 std::uint64_t file_size, const std::string& file) {
  std::uint64_t reached = data_begin;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin < reached)
      throw FileError("{}: tensor {} overlaps the one before it by {} bytes", file, tensor.name,
                      reached - tensor.begin);
    if (tensor.begin > reached)
      throw FileError("{}: {} bytes before tensor {} belong to no tensor", file,
                      tensor.begin - reached, tensor.name);
    reached = tensor.end;
  }
  if (reached > file_size)
    throw FileError("{}: found {} bytes, expected {}: the file is cut; copy or download it again",
                    file, file_size, reached);
  if (reached < file_size)
    throw FileError("{}: found {} bytes after the last tensor, expected none: the file is damaged",
                    file, file_size - reached);
}

}  // namespace

std::string shape_text(const TensorShape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_begin,
                                           std::uint64_t file_size, const std::string& where) {
  if (!json.starts_with("{"))
    throw FileError("{}: the header does not begin with '{{': not a safetensors file", where);
  const SortedJson object = parse_strict_table(json, where + ": header");
  SafetensorsHeader header;
  for (const auto& [name, entry] : object.items()) {
    if (name == kMetadata)
      header.metadata = read_metadata(entry, where);
    else
      header.tensors.push_back(read_entry(name, entry, data_begin, where));
  }
  // Tensors without a byte come before the one that starts at their place.
  std::ranges::sort(header.tensors, [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  check_cover(header.tensors, data_begin, file_size, where);
  return header;
}

SafetensorsHeader read_safetensors_header(FileSystem& files, const std::string& path) {
  const std::uint64_t size = files.file_size(path);
  if (size < kLengthBytes)
    throw FileError(
        "{}: found {} bytes, expected a safetensors file: it is empty or cut; copy or "
        "download it again",
        path, size);
  const InputFile file = files.open(path);
  const auto read = [&](std::uint64_t offset, std::uint64_t count) {
    std::string bytes(count, '\0');
    bytes.resize(file.read_at(offset, bytes));
    return bytes;
  };
  const auto length = read_little_endian<std::uint64_t>(read(0, kLengthBytes));
  if (length > kMaxHeader)
    throw FileError("{}: a header of {} bytes, expected at most {}: not a safetensors file", path,
                    length, kMaxHeader);
  if (length > size - kLengthBytes)
    throw FileError(
        "{}: found {} bytes, expected a header of {}: the file is cut; copy or download "
        "it again",
        path, size, length);
  return parse_safetensors_header(read(kLengthBytes, length), kLengthBytes + length, size, path);
}

std::uint64_t TensorToWrite::size() const {
  return shape_bytes(shape, type, "tensor " + name);
}

void write_safetensors(FileSystem& files, const std::string& path,
                       std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) append(header, std::string(kMetadata), metadata);
  std::set<std::string_view> names;
  std::uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    ODB_CHECK(names.insert(tensor.name).second, "tensor {} is written twice", tensor.name);
    append(header, tensor.name,
           {{"dtype", name(tensor.type)},
            {"shape", tensor.shape},
            {"data_offsets", {offset, offset + tensor.size()}}});
    offset += tensor.size();
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string length;
  append_little_endian(length, static_cast<std::uint64_t>(text.size()));

  DurableFile file(files, path);
  file.write(length);
  file.write(text);
  for (const TensorToWrite& tensor : tensors) {
    const std::string_view bytes = tensor.bytes();
    ODB_CHECK_EQ(bytes.size(), tensor.size());
    file.write(bytes);
  }
  file.commit();
}

}  // namespace odb
