// Compressed data files (.gz, .zst, file_kind.h): decompressed to a copy, because records are read
// in random order.
#pragma once

#include <string>

#include "base/progress_callback.h"
#include "data/records/cache_folder.h"
#include "data/records/data_file.h"

namespace odb {

// The path of the decompressed copy in the cache folder. Writes it unless there is a copy whose
// size, time and fingerprint match the file of the same name with ".check". Removes copies of
// earlier states of `file`, except those in use. Several gzip members (zeros may follow the last)
// or zstd frames in a row are one file. zstd windows of up to 2^31 bytes are read. Throws DataError
// if the data is damaged or cut, or needs more than that; FileError if the disk is too small.
std::string decompressed_copy(const CacheFolder& cache, const DataFile& file,
                              const ProgressCallback& progress = {});

}  // namespace odb
