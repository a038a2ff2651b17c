#include "train/output/json_lines.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace odb {
namespace {

std::string_view whole_lines(std::string_view bytes) {
  return bytes.substr(0, bytes.rfind('\n') + 1);
}

std::optional<Json> parse_object(std::string_view line) {
  Json value = Json::parse(line, nullptr, false);
  if (!value.is_object()) return std::nullopt;
  return value;
}

// The number of bytes from the beginning on that are lines to keep.
std::size_t kept_bytes(std::string_view lines, const JsonLinesFile::Keep& keep) {
  std::size_t kept = 0;
  while (kept < lines.size()) {
    const std::size_t end = lines.find('\n', kept);
    const auto object = parse_object(lines.substr(kept, end - kept));
    if (!object || !keep(*object)) break;
    kept = end + 1;
  }
  return kept;
}

// Cuts off the rest before the file is opened for appending.
const std::string& settled(FileSystem& files, const std::string& path,
                           const JsonLinesFile::Keep& keep) {
  if (!files.exists(path)) return path;
  const std::string bytes = files.read_all(path);
  const std::string_view lines = whole_lines(bytes);
  const std::size_t valid = keep ? kept_bytes(lines, keep) : lines.size();
  if (valid < bytes.size()) files.truncate(path, valid);
  return path;
}

}  // namespace

JsonLinesFile::JsonLinesFile(FileSystem& files, const std::string& path, const Keep& keep)
    : file_(files.append(settled(files, path, keep))) {}

void JsonLinesFile::append(const Json& object) {
  file_.write(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<Json> read_json_lines(FileSystem& files, const std::string& path) {
  const std::string bytes = files.read_all(path);
  std::vector<Json> objects;
  for (const std::string_view line : split_lines(whole_lines(bytes))) {
    auto object = parse_object(line);
    if (!object)
      throw FileError("{}:{}: found no JSON object; the file is damaged there", path,
                      objects.size() + 1);
    objects.push_back(*std::move(object));
  }
  return objects;
}

}  // namespace odb
