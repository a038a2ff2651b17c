// Compressed data files (.gz, .zst): written out once, since records are read at random places.
#pragma once

#include <string>

#include "data/records/cache_folder.h"
#include "data/records/data_file.h"
#include "data/records/index_builder.h"

namespace odb {

// Whether the name says that the file is compressed in a known way.
bool is_compressed(const std::string& path);

// The path of the decompressed copy in the cache folder, written now if there is none whose size,
// time and fingerprint are those that stand in the file of the same name with ".check". Copies of
// earlier states of `file` are removed, but for those in use. Several gzip members (zeros may
// follow the last) or zstd frames behind each other are one file. Throws DataError when the data is
// damaged or cut, FileError when the disk is too small.
std::string decompressed_copy(const CacheFolder& cache, const DataFile& file,
                              const TellProgress& progress = {});

}  // namespace odb
