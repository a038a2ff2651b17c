#include "launch/rank_log.h"

#include <fcntl.h>

#include <cerrno>
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace odb {
namespace {

// Local, as in the lines that follow.
std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

}  // namespace

Descriptor open_rank_log(const std::string& folder, int rank, int ranks,
                         const std::vector<std::string>& arguments) {
  std::error_code ignored;  // reported by open() below
  std::filesystem::create_directories(folder, ignored);
  const std::string path = fmt::format("{}/rank-{:05}.log", folder, rank);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  const std::string header = fmt::format("==== {} odb-trainer launch: rank {} of {}: {}\n",
                                         time_text(), rank, ranks, fmt::join(arguments, " "));
  const ssize_t written = file.open() ? ::write(file.get(), header.data(), header.size()) : -1;
  if (written == static_cast<ssize_t>(header.size())) return file;
  // A full disk takes less than was written.
  throw FileError("launch: cannot write {}: {}; give another --log-dir", path,
                  errno_text(written < 0 ? errno : ENOSPC));
}

}  // namespace odb
