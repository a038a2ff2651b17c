#include "data/records/data_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file_lock.h"

namespace odb {
namespace {

constexpr std::uint64_t kEdgeBytes = 64 * 1024;
constexpr std::uint64_t kPlaceBytes = 8 * 1024;
constexpr std::uint64_t kPlaces = 64;

FileStamp stamp_of(const struct stat& status) {
  return {.size = static_cast<std::uint64_t>(status.st_size),
          .modified_ns = status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec};
}

}  // namespace

DataFile::DataFile(std::string path) : path_(std::move(path)) {
  // Non-blocking: opening a pipe without a writer would block forever.
  file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file_.open())
    throw DataError("{}: cannot be opened for reading: {}; check --data", path_, errno_text(errno));
  struct stat status = {};
  const int rc = ::fstat(file_.get(), &status);
  if (rc != 0 || !S_ISREG(status.st_mode))
    throw DataError("{}: {}; --data expects regular files", path_,
                    rc != 0 ? errno_text(errno) : "is not a regular file");
  stamp_ = stamp_of(status);
}

std::size_t DataFile::read_at(std::uint64_t offset, std::span<char> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(file_.get(), into.data() + done, into.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw DataError("{}: reading at byte {} failed: {}", path_, offset + done, errno_text(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void DataFile::check_unchanged() const {
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) throw DataError("{}: {}", path_, errno_text(errno));
  const FileStamp now = stamp_of(status);
  const bool gone = status.st_nlink == 0;
  if (now == stamp_ && !gone) return;
  throw DataError(
      "{}: changed while it was in use: it {}; training data must not change during a run, restore "
      "the file or start a new run",
      path_,
      gone                      ? "was deleted or replaced"
      : now.size != stamp_.size ? fmt::format("had {} bytes and has {}", stamp_.size, now.size)
                                : "was written to");
}

void DataFile::mark_in_use() const {
  try_lock(file_, LockMode::shared);
}

bool DataFile::is_in_use(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  return file.open() && try_lock(file, LockMode::exclusive) == LockResult::held_elsewhere;
}

Checksum128 DataFile::fingerprint() const {
  ChecksumStream<Checksum128> sum;
  std::vector<char> buffer(kEdgeBytes);
  const auto add = [&](std::uint64_t offset, std::uint64_t bytes) {
    const std::size_t got = read_at(offset, std::span(buffer).first(bytes));
    sum.update({buffer.data(), got});
  };
  std::uint64_t size = stamp_.size;
  sum.update({reinterpret_cast<const char*>(&size), sizeof size});
  add(0, kEdgeBytes);
  if (size > kEdgeBytes) add(size - std::min(size - kEdgeBytes, kEdgeBytes), kEdgeBytes);
  if (size > 2 * kEdgeBytes + kPlaces * kPlaceBytes)
    for (std::uint64_t place = 1; place <= kPlaces; ++place)
      add(size / (kPlaces + 1) * place, kPlaceBytes);
  return sum.value();
}

}  // namespace odb
