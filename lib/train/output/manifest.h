// MANIFEST.json of a checkpoint: lists every file with size and checksum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace odb {

inline constexpr const char* kManifestName = "MANIFEST.json";
inline constexpr int kManifestVersion = 1;

struct ManifestFile {
  std::string name;        // relative: "data/rank-00000.json"
  std::uint64_t size = 0;  // bytes
  std::string xxh3;        // 128 bits, 32 hex digits: `xxhsum -H2`
  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

struct Manifest {
  std::int64_t step = 0;
  std::vector<ManifestFile> files;  // sorted by name; MANIFEST.json is not among them
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

std::string to_json(const Manifest& manifest);
// FileError beginning with `where`: not a manifest, another version, no files, a name that is
// listed twice or leads out of the folder.
Manifest parse_manifest(std::string_view text, const std::string& where);

// Whether `name` is a path below its base folder: "data/rank-00000.json", not "../x", "/x", "a//b"
// or "".
bool is_name_below(std::string_view name);

}  // namespace odb
