#include "temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/real_file_system.h"

namespace odb {

TemporaryFolder::TemporaryFolder() {
  const char* base = std::getenv("TMPDIR");
  path_ = join_path(base != nullptr && *base != '\0' ? base : "/tmp", "odb-test-XXXXXX");
  if (::mkdtemp(path_.data()) == nullptr)
    throw FileError("cannot make a temporary folder {}: {}; check TMPDIR", path_,
                    errno_text(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a test that locked itself out has failed already
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::operator/(std::string_view name) const {
  return join_path(path_, std::string(name));
}

std::string TemporaryFolder::write(std::string_view name, std::string_view bytes) const {
  RealFileSystem files;
  const std::string path = *this / name;
  files.make_folders(parent_folder(path));
  OutputFile file = files.create(path);
  file.write(bytes);
  file.close();
  return path;
}

}  // namespace odb
