#include "train/output/run_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <random>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_lock.h"
#include "base/log.h"

namespace odb {
namespace {

std::string read_file(int descriptor) {
  char bytes[4096];
  const ssize_t count = ::pread(descriptor, bytes, sizeof(bytes), 0);
  return {bytes, count > 0 ? static_cast<std::size_t>(count) : 0};
}

bool write_file(int descriptor, const std::string& text) {
  return ::ftruncate(descriptor, 0) == 0 &&
         ::pwrite(descriptor, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
         ::fsync(descriptor) == 0;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string describe(const LockOwner& owner) {
  if (owner.nonce.empty()) return "a process that is not named there";
  const std::string job =
      owner.host_info.job.empty() ? "" : fmt::format(" (job {})", owner.host_info.job);
  return fmt::format("process {} on {}{}", owner.host_info.pid, owner.host_info.host, job);
}

std::string to_json(const LockOwner& owner) {
  const Json object = {
      {"host", owner.host_info.host},
      {"pid", owner.host_info.pid},
      {"job", owner.host_info.job.empty() ? Json(nullptr) : Json(owner.host_info.job)},
      {"nonce", owner.nonce},
      {"released", owner.released}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

LockOwner parse_lock_owner(std::string_view text) {
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return {};
  LockOwner owner{.host_info = {.host = text_of(object, "host"), .job = text_of(object, "job")},
                  .nonce = text_of(object, "nonce"),
                  .released = object.value("released", Json()) == Json(true)};
  const Json pid = object.value("pid", Json());
  if (pid.is_number_integer()) owner.host_info.pid = pid.get<std::int64_t>();
  return owner;
}

LockOwner this_owner() {
  std::random_device random;
  const auto half = [&] { return std::uint64_t{random()} << 32 | random(); };
  return {.host_info = this_host(), .nonce = to_hex(half()), .released = false};
}

RunLock::RunLock(const std::string& path, LockOwner owner) : path_(path), owner_(std::move(owner)) {
  file_ = Descriptor(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
  if (!file_.open())
    throw FileError("cannot open {} for writing: {}; check the owner and the permissions", path,
                    errno_text(errno));
  const LockResult result = try_lock(file_, LockMode::exclusive);
  const int error_number = errno;
  const LockOwner before = parse_lock_owner(read_file(file_.get()));
  if (result == LockResult::held_elsewhere)
    throw UsageError(
        "{}: another run writes into this folder: {}; wait for it, stop it, or give another "
        "--output",
        path, describe(before));
  if (result == LockResult::unsupported)
    log("files").warn("{}: this file system has no locks ({}); two runs could write here", path,
                      errno_text(error_number));
  if (!before.nonce.empty() && !before.released)
    log("files").info("{}: {} died without releasing its lock; taken over", path, describe(before));
  if (!write_file(file_.get(), to_json(owner_)))
    throw FileError("cannot write {}: {}; free some space there or choose another folder", path,
                    errno_text(errno));
}

RunLock::~RunLock() {
  if (!still_ours()) return;
  owner_.released = true;
  write_file(file_.get(), to_json(owner_));
}

// By name, because after a takeover on another machine the name may refer to another file.
bool RunLock::still_ours() const {
  const Descriptor named(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  return named.open() && parse_lock_owner(read_file(named.get())).nonce == owner_.nonce;
}

}  // namespace odb
