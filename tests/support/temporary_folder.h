// A folder of its own for a test, below TMPDIR (else /tmp), removed with its contents.
#pragma once

#include <string>
#include <string_view>

namespace odb {

class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  // The path of `name` in it, e.g. folder / "run/config.json"; it need not exist.
  std::string operator/(std::string_view name) const;
  // Writes a file, with the folders above it, and returns its path.
  std::string write(std::string_view name, std::string_view bytes) const;

 private:
  std::string path_;
};

}  // namespace odb
