// What a file holds, by its first bytes and whatever its name says: so that a Parquet file or a
// gzip file under the name of JSON Lines is refused as what it is, not as damage or as bad rows.
#pragma once

#include <string>
#include <string_view>

#include "data/records/data_file.h"

namespace odb {

// How a file is compressed.
enum class Compression { none, gzip, zstd };

// By the ending of the name, in any case: .gz, .zst.
Compression compression_of(const std::string& path);

// Whether the name ends with `ending` (in small letters), in any case.
bool has_ending(const std::string& path, std::string_view ending);

struct FileKind {
  enum class Content {
    text,  // probably JSON
    gzip,  // compressed in a way that is read
    zstd,
    foreign,  // known, and not read
    unknown   // bytes without a meaning here
  };
  Content content = Content::text;
  std::string_view name;    // "gzip data", "a Parquet file"; empty for text and unknown bytes
  std::string_view advice;  // what to do with a foreign one
};

// The number of first bytes that decide.
constexpr std::size_t kKindBytes = 4096;

// `head`: the first kKindBytes bytes of the content, or all of them.
FileKind kind_of_content(std::string_view head);

// Throws DataError if `file` does not hold what the name `path` promises: JSON text, or compressed
// data where it ends with .gz or .zst. The message names the kind and says what to do. Bytes of no
// known kind pass: they are bad rows, or damage, with a place.
void check_kind(const DataFile& file, const std::string& path);

// The same for the decompressed copy of `path`, which must hold text.
void check_copy_kind(const DataFile& copy, const std::string& path);

}  // namespace odb
