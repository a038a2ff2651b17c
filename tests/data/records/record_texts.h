// Small helpers of the record tests: files with given bytes, and all rows of a file as texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/real_file_system.h"
#include "data/records/record_file.h"
#include "temporary_folder.h"

namespace odb {

// A folder of data files with its own cache in it.
class DataFolder {
 public:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string put(const std::string& name, std::string_view bytes) {
    files_.write_durably(path(name), bytes);
    return path(name);
  }
  CacheFolder cache() { return CacheFolder(files_, path("cache")); }
  FileSystem& files() { return files_; }
  RecordFile open(const std::string& name) { return RecordFile(path(name), cache()); }

 private:
  TemporaryFolder folder_;
  RealFileSystem files_;
};

inline std::string row_text(const RecordFile& file, std::uint64_t row) {
  RecordBuffer buffer;
  file.read(row, buffer);
  return std::string(buffer.text());
}

inline std::vector<std::string> row_texts(const RecordFile& file) {
  std::vector<std::string> rows;
  for (std::uint64_t row = 0; row < file.rows(); ++row)
    rows.push_back(row_text(file, row));
  return rows;
}

}  // namespace odb
