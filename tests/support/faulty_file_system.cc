#include "faulty_file_system.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/error.h"

namespace odb {

// What is durable is what the last sync saw.
struct FaultyFileSystem::Node {
  bool folder = false;
  std::string bytes;
  std::string durable_bytes;
  bool sync_failed = false;  // earlier writes will never be durable
  std::map<std::string, std::shared_ptr<Node>> names;
  std::map<std::string, std::shared_ptr<Node>> durable_names;

  std::uint64_t size() const {
    std::uint64_t total = bytes.size();
    for (const auto& [name, node] : names)
      total += node->size();
    return total;
  }

  void collect(const std::string& path, std::map<std::string, std::string>& into) const {
    for (const auto& [name, node] : names) {
      const std::string whole = path + "/" + name;
      into[node->folder ? whole + "/" : whole] = node->bytes;
      node->collect(whole, into);
    }
  }

  std::string bytes_after_crash(Unsynced unsynced) const {
    switch (unsynced) {
      case Unsynced::kept:
      case Unsynced::bytes_only:
        return bytes;
      case Unsynced::lost:
      case Unsynced::names_only:
        return durable_bytes;
      case Unsynced::torn:
        break;
    }
    const std::size_t kept = bytes.starts_with(durable_bytes) ? durable_bytes.size() : 0;
    return bytes.substr(0, kept + (bytes.size() - kept) / 2);
  }

  std::shared_ptr<Node> after_crash(Unsynced unsynced) const {
    auto result = std::make_shared<Node>();
    result->folder = folder;
    result->bytes = result->durable_bytes = bytes_after_crash(unsynced);
    const bool synced_names = unsynced == Unsynced::lost || unsynced == Unsynced::bytes_only;
    for (const auto& [name, node] : synced_names ? durable_names : names)
      result->names[name] = node->after_crash(unsynced);
    result->durable_names = result->names;
    return result;
  }
};

struct FaultyFileSystem::Place {
  std::shared_ptr<Node> parent;  // none for the root
  std::string name;
  std::shared_ptr<Node> node;  // none when the name is free
};

FaultyFileSystem::FaultyFileSystem() : FaultyFileSystem(std::make_shared<Node>()) {}

FaultyFileSystem::FaultyFileSystem(std::shared_ptr<Node> root)
    : root_(std::move(root)),
      capacity_(std::numeric_limits<std::uint64_t>::max()),
      call_limit_(std::numeric_limits<std::size_t>::max()) {
  root_->folder = true;
}

void FaultyFileSystem::set_capacity(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  capacity_ = bytes;
}

void FaultyFileSystem::limit_each_call(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  call_limit_ = bytes;
}

void FaultyFileSystem::interrupt_calls() {
  const std::lock_guard lock(mutex_);
  interrupts_ = true;
}

void FaultyFileSystem::fail_next(Call call, int error_number, const std::string& path_part) {
  const std::lock_guard lock(mutex_);
  failures_.push_back({call, error_number, path_part});
}

void FaultyFileSystem::crash_at(std::size_t number) {
  const std::lock_guard lock(mutex_);
  crash_step_ = number;
}

bool FaultyFileSystem::crashed() const {
  const std::lock_guard lock(mutex_);
  return crashed_;
}

std::vector<FaultyFileSystem::Step> FaultyFileSystem::steps() const {
  const std::lock_guard lock(mutex_);
  return steps_;
}

std::map<std::string, std::string> FaultyFileSystem::contents() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> result;
  root_->collect("", result);
  return result;
}

FaultyFileSystem FaultyFileSystem::after_crash(Unsynced unsynced) const {
  const std::lock_guard lock(mutex_);
  return FaultyFileSystem(root_->after_crash(unsynced));
}

int FaultyFileSystem::begin(Call call, const std::string& path, bool changes) {
  if (crashed_) return -EIO;
  interrupted_last_ = interrupts_ && !interrupted_last_;
  if (interrupted_last_) return -EINTR;
  if (changes) {
    steps_.push_back({call, path});
    crashed_ = steps_.size() == crash_step_;
    if (crashed_) return -EIO;
  }
  const auto failure = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& next) {
    return next.call == call && path.find(next.path_part) != std::string::npos;
  });
  if (failure == failures_.end()) return 0;
  const int error_number = failure->error_number;
  failures_.erase(failure);
  return -error_number;
}

int FaultyFileSystem::find(const std::string& path, Place& place) const {
  if (path.empty()) return -ENOENT;
  place = {.parent = nullptr, .name = "", .node = root_};
  for (std::size_t start = 0; start < path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string name = path.substr(start, end - start);
    start = end + 1;
    if (name.empty() || name == ".") continue;
    ODB_CHECK(name != "..", "{}: FaultyFileSystem knows no ..", path);
    if (!place.node) return -ENOENT;
    if (!place.node->folder) return -ENOTDIR;
    const auto found = place.node->names.find(name);
    place = {.parent = place.node,
             .name = name,
             .node = found == place.node->names.end() ? nullptr : found->second};
  }
  return 0;
}

int FaultyFileSystem::do_open(const std::string& path, OpenMode mode) {
  const std::lock_guard lock(mutex_);
  const bool writes = mode != OpenMode::read;
  if (const int fault = begin(Call::open, path, writes)) return fault;
  Place place;
  if (const int fault = find(path, place)) return fault;
  if (!place.node && !writes) return -ENOENT;
  if (place.node && place.node->folder && writes) return -EISDIR;
  if (!place.node) place.node = place.parent->names[place.name] = std::make_shared<Node>();
  if (mode == OpenMode::create) {
    place.node->bytes.clear();
    place.node->sync_failed = false;
  }
  handles_[next_handle_] = {.node = place.node, .path = path, .mode = mode};
  return next_handle_++;
}

int FaultyFileSystem::do_close(int handle) {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return -EBADF;
  const std::string path = found->second.path;
  handles_.erase(found);
  interrupted_last_ = true;  // close is not interrupted
  return begin(Call::close, path, false);
}

std::int64_t FaultyFileSystem::do_read(int handle, std::uint64_t offset, std::span<char> into) {
  const std::lock_guard lock(mutex_);
  const Handle& file = handles_.at(handle);
  if (const int fault = begin(Call::read, file.path, false)) return fault;
  if (file.node->folder) return -EISDIR;
  if (file.mode != OpenMode::read) return -EBADF;
  const std::string& bytes = file.node->bytes;
  if (offset >= bytes.size()) return 0;
  const std::size_t count =
      std::min({into.size(), static_cast<std::size_t>(bytes.size() - offset), call_limit_});
  return static_cast<std::int64_t>(bytes.copy(into.data(), count, offset));
}

std::int64_t FaultyFileSystem::do_write(int handle, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  Handle& file = handles_.at(handle);
  if (const int fault = begin(Call::write, file.path, true)) return fault;
  if (file.mode == OpenMode::read) return -EBADF;
  const std::uint64_t used = root_->size();
  const std::uint64_t room = capacity_ > used ? capacity_ - used : 0;
  const std::size_t count = std::min<std::uint64_t>({bytes.size(), call_limit_, room});
  if (count == 0 && !bytes.empty()) return -ENOSPC;
  std::string& target = file.node->bytes;
  if (file.mode == OpenMode::append) file.position = target.size();
  target.resize(std::max<std::size_t>(target.size(), file.position));
  target.replace(file.position, count, bytes.substr(0, count));
  file.position += count;
  return static_cast<std::int64_t>(count);
}

int FaultyFileSystem::do_sync(int handle) {
  const std::lock_guard lock(mutex_);
  const Handle& file = handles_.at(handle);
  const int fault = begin(Call::sync, file.path, true);
  if (fault != 0) {
    file.node->sync_failed |= fault != -EINTR;
    return fault;
  }
  if (!file.node->sync_failed) file.node->durable_bytes = file.node->bytes;
  return 0;
}

int FaultyFileSystem::do_truncate(const std::string& path, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  if (const int fault = begin(Call::truncate, path, true)) return fault;
  Place place;
  if (const int fault = find(path, place)) return fault;
  if (!place.node) return -ENOENT;
  if (place.node->folder) return -EISDIR;
  place.node->bytes.resize(size);
  return 0;
}

int FaultyFileSystem::do_list(const std::string& folder, std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  if (const int fault = begin(Call::list, folder, false)) return fault;
  Place place;
  if (const int fault = find(folder, place)) return fault;
  if (!place.node) return -ENOENT;
  if (!place.node->folder) return -ENOTDIR;
  // Backwards: a real folder promises no order either.
  for (auto entry = place.node->names.rbegin(); entry != place.node->names.rend(); ++entry)
    names.push_back(entry->first);
  return 0;
}

int FaultyFileSystem::do_make_folder(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  if (const int fault = begin(Call::make_folder, folder, true)) return fault;
  Place place;
  if (const int fault = find(folder, place)) return fault;
  if (place.node) return -EEXIST;
  place.node = place.parent->names[place.name] = std::make_shared<Node>();
  place.node->folder = true;
  return 0;
}

int FaultyFileSystem::do_rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (const int fault = begin(Call::rename, from, true)) return fault;
  Place source;
  Place target;
  if (const int fault = find(from, source)) return fault;
  if (const int fault = find(to, target)) return fault;
  if (!source.node) return -ENOENT;
  if (!source.parent || !target.parent) return -EBUSY;
  if (source.node->folder && (to + "/").starts_with(from + "/") && to != from) return -EINVAL;
  if (target.node && target.node != source.node) {
    if (source.node->folder && !target.node->folder) return -ENOTDIR;
    if (!source.node->folder && target.node->folder) return -EISDIR;
    if (!target.node->names.empty()) return -ENOTEMPTY;
  }
  source.parent->names.erase(source.name);
  target.parent->names[target.name] = source.node;
  return 0;
}

int FaultyFileSystem::remove_place(const std::string& path, bool folder) {
  const std::lock_guard lock(mutex_);
  if (const int fault = begin(Call::remove, path, true)) return fault;
  Place place;
  if (const int fault = find(path, place)) return fault;
  if (!place.node) return -ENOENT;
  if (!place.parent) return -EBUSY;
  if (place.node->folder && !folder) return -EISDIR;
  if (!place.node->folder && folder) return -ENOTDIR;
  if (!place.node->names.empty()) return -ENOTEMPTY;
  place.parent->names.erase(place.name);
  return 0;
}

int FaultyFileSystem::do_remove(const std::string& path) {
  return remove_place(path, false);
}

int FaultyFileSystem::do_remove_folder(const std::string& folder) {
  return remove_place(folder, true);
}

int FaultyFileSystem::do_sync_folder(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  if (const int fault = begin(Call::sync_folder, folder, true)) return fault;
  Place place;
  if (const int fault = find(folder, place)) return fault;
  if (!place.node) return -ENOENT;
  if (!place.node->folder) return -ENOTDIR;
  place.node->durable_names = place.node->names;
  return 0;
}

int FaultyFileSystem::do_status(const std::string& path, Status& status) {
  const std::lock_guard lock(mutex_);
  if (const int fault = begin(Call::status, path, false)) return fault;
  Place place;
  if (const int fault = find(path, place)) return fault;
  if (!place.node) return -ENOENT;
  status = {.folder = place.node->folder, .size = place.node->bytes.size()};
  return 0;
}

int FaultyFileSystem::do_free_space(const std::string& folder,
                                    std::optional<std::uint64_t>& bytes) {
  const std::lock_guard lock(mutex_);
  if (const int fault = begin(Call::free_space, folder, false)) return fault;
  Place place;
  if (const int fault = find(folder, place)) return fault;
  if (!place.node) return -ENOENT;
  const std::uint64_t used = root_->size();
  bytes = capacity_ > used ? capacity_ - used : 0;
  return 0;
}

const char* name(Unsynced unsynced) {
  switch (unsynced) {
    case Unsynced::lost:
      return "lost";
    case Unsynced::kept:
      return "kept";
    case Unsynced::names_only:
      return "names_only";
    case Unsynced::bytes_only:
      return "bytes_only";
    case Unsynced::torn:
      return "torn";
  }
  return "unknown";
}

std::size_t for_every_crash(
    const std::function<void(FileSystem&)>& prepare, const std::function<void(FileSystem&)>& action,
    const std::function<void(FaultyFileSystem&, std::size_t, Unsynced)>& check) {
  for (std::size_t step = 1;; ++step) {
    FaultyFileSystem prepared;
    prepare(prepared);
    FaultyFileSystem disk = prepared.after_crash(Unsynced::kept);
    disk.crash_at(step);
    try {
      action(disk);
    } catch (const Error&) {
      if (!disk.crashed()) throw;
    }
    if (!disk.crashed()) return step - 1;
    for (const Unsynced unsynced : kAllUnsynced) {
      FaultyFileSystem found = disk.after_crash(unsynced);
      check(found, step, unsynced);
    }
  }
}

}  // namespace odb
