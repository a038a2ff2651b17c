// Builds the index of a data file: detects its layout, scans it in pieces on several
// threads, and writes the index file.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.h"
#include "base/progress_callback.h"
#include "data/records/data_file.h"
#include "data/records/line_index.h"

namespace odb {

// A JSON array if the first non-blank byte is '[' and the name does not end in .jsonl or .ndjson
// (in any case); otherwise lines.
RecordLayout detect_layout(const DataFile& file);

struct IndexBuild {
  int threads = 0;  // 0: one per core, at most 8
  ProgressCallback progress;
};

// Reads all of `file` once and writes its index to `path`, synced; all threads have ended when it
// returns. Memory: under 40 MiB per thread. Throws DataError for an array that is broken at its top
// level, and when the file changes meanwhile; FileError when the index cannot be written.
void build_index(FileSystem& files, const DataFile& file, const std::string& path,
                 const IndexBuild& build = {});

}  // namespace odb
