// The operating system's file system: each primitive of FileSystem is one system call, or the
// shortest sequence of them. Has no state: construct it anywhere. Files are closed on exec.
#pragma once

#include "base/files.h"

namespace odb {

class RealFileSystem final : public FileSystem {
 private:
  int do_open(const std::string& path, OpenMode mode) override;
  int do_close(int handle) override;
  std::int64_t do_read(int handle, std::uint64_t offset, std::span<char> into) override;
  std::int64_t do_write(int handle, std::string_view bytes) override;
  int do_sync(int handle) override;
  int do_truncate(const std::string& path, std::uint64_t size) override;
  int do_list(const std::string& folder, std::vector<std::string>& names) override;
  int do_make_folder(const std::string& folder) override;
  int do_rename(const std::string& from, const std::string& to) override;
  int do_remove(const std::string& path) override;
  int do_remove_folder(const std::string& folder) override;
  int do_sync_folder(const std::string& folder) override;
  int do_status(const std::string& path, Status& status) override;
  bool do_is_link(const std::string& path) override;
  int do_free_space(const std::string& folder, std::optional<std::uint64_t>& bytes) override;
};

}  // namespace odb
