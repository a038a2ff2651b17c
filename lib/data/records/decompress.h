// Compressed data files (.gz, .zst): decompressed to a copy, because records are read in random
// order.
#pragma once

#include <string>

#include "base/progress_callback.h"
#include "data/records/cache_folder.h"
#include "data/records/data_file.h"

namespace odb {

// Whether the name says that the file is compressed in a known way.
bool is_compressed(const std::string& path);

// The path of the decompressed copy in the cache folder. Writes it unless there is a copy whose
// size, time and fingerprint match the file of the same name with ".check". Removes copies of
// earlier states of `file`, except those in use. Several gzip members (zeros may follow the last)
// or zstd frames in a row are one file. Throws DataError if the data is damaged or cut, FileError
// if the disk is too small.
std::string decompressed_copy(const CacheFolder& cache, const DataFile& file,
                              const ProgressCallback& progress = {});

}  // namespace odb
