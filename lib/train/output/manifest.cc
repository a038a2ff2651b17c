#include "train/output/manifest.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

ManifestFile file_of(const Json& value, const std::string& where) {
  if (!value.is_object()) throw FileError("{}: files: found no object in the list", where);
  const JsonObjectReader file(value, where);
  const auto name = file.text_or_none("name");
  if (!name || !is_name_below(*name) || *name == kManifestName)
    file.refuse("name", "the name of a file below the checkpoint");
  const auto checksum = file.text_or_none("xxh3");
  if (!checksum) file.refuse("xxh3", "a checksum of 32 hex digits");
  return {.name = *name,
          .size = static_cast<std::uint64_t>(file.integer("size", 0, kMax)),
          .xxh3 = *checksum};
}

}  // namespace

bool is_name_below(std::string_view name) {
  return std::ranges::none_of(split(name, '/'), [](std::string_view part) {
    return part.empty() || part == "." || part == "..";
  });
}

std::string to_json(const Manifest& manifest) {
  Json files = Json::array();
  for (const ManifestFile& file : manifest.files)
    files.push_back(Json{{"name", file.name}, {"size", file.size}, {"xxh3", file.xxh3}});
  const Json json = {
      {"version", kManifestVersion}, {"step", manifest.step}, {"files", std::move(files)}};
  return json.dump(2) + "\n";
}

Manifest parse_manifest(std::string_view text, const std::string& where) {
  const Json json = parse_strict_object(text, where);
  const JsonObjectReader reader(json, where);
  reader.require_version(kManifestVersion);
  Manifest manifest{.step = reader.integer("step", 0, kMax), .files = {}};
  const Json* files = reader.find("files");
  if (files == nullptr || !files->is_array() || files->empty())
    reader.refuse("files", "a list of files");
  for (const Json& file : *files)
    manifest.files.push_back(file_of(file, where));
  std::ranges::sort(manifest.files, {}, &ManifestFile::name);
  const auto twice = std::ranges::adjacent_find(manifest.files, {}, &ManifestFile::name);
  if (twice != manifest.files.end()) throw FileError("{}: {} is listed twice", where, twice->name);
  return manifest;
}

}  // namespace odb
