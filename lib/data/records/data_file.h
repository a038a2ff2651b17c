// A data file, open for the whole run: positioned reads, and a check that it is still the same.
//
// Reads go through pread, not through a mapping: a file that is cut while it is mapped kills the
// process with SIGBUS, a short pread is an error that can name file and line. From the page cache
// both cost the same. The descriptor may be shared by forked processes and by threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/checksum.h"
#include "base/descriptor.h"

namespace odb {

// What the file system says about a file; changes whenever the file is written.
struct FileStamp {
  std::uint64_t size = 0;        // bytes
  std::int64_t modified_ns = 0;  // since 1970
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

class DataFile {
 public:
  // Throws DataError if the path cannot be opened for reading or is not a regular file.
  explicit DataFile(std::string path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return stamp_.size; }
  // As it was when the file was opened.
  const FileStamp& stamp() const { return stamp_; }

  // Fills `into` from `offset` on. Fewer bytes come back only at the end of the file.
  std::size_t read_at(std::uint64_t offset, std::span<char> into) const;

  // Throws DataError when the file was written, cut, replaced or deleted since it was opened. One
  // system call; a write that changes neither size nor time stamp is not seen.
  void check_unchanged() const;

  // Marks the file as in use while this process or a child forked from it has it open. is_in_use
  // reports that for any process. Where the file system has no locks, nothing is marked.
  void mark_in_use() const;
  static bool is_in_use(const std::string& path);

  // A checksum of size, head, tail and 64 blocks between them. Reads at most 640 KiB for any size.
  Checksum128 fingerprint() const;

 private:
  std::string path_;
  Descriptor file_;
  FileStamp stamp_;
};

}  // namespace odb
