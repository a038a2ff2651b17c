// A file system in memory that fails on demand and knows what a loss of power would leave.
//
// Every file keeps the bytes as written and the bytes as last synced; every folder keeps its names
// as changed and as last synced. crash_at(n) makes the n-th changing call, and all after it, fail
// with EIO and without effect, as if the machine had died; after_crash() is the disk that the next
// boot finds. for_every_crash() does so at each changing call of an action in turn.
//
// It holds all rules of the real one that code may trip over (a folder that is not empty cannot be
// replaced, a failed sync loses its bytes for good though the next one succeeds), but no links and
// no "..". The working folder is "/". Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"

namespace odb {

// What the disk holds after a crash of what was not synced. The rules permit any mix; these are the
// ones that have caused faults.
enum class Unsynced {
  lost,        // nothing of it
  kept,        // all of it: the process died, the machine did not
  names_only,  // names, renames and removals, but no bytes: a file is there and empty
  bytes_only,  // bytes of files that have synced names
  torn         // names, and half of the bytes
};
inline constexpr Unsynced kAllUnsynced[] = {Unsynced::lost, Unsynced::kept, Unsynced::names_only,
                                            Unsynced::bytes_only, Unsynced::torn};

class FaultyFileSystem final : public FileSystem {
 public:
  // `open` counts as changing (and as a step) when it is for writing; read, list, status, close and
  // free_space are not steps.
  enum class Call {
    open,
    write,
    sync,
    truncate,
    make_folder,
    rename,
    remove,
    sync_folder,
    read,
    list,
    status,
    close,
    free_space
  };
  struct Step {
    Call call;
    std::string path;  // of a rename: the old one
  };

  FaultyFileSystem();

  // The disk holds at most this many bytes; a write past it is short, the next one gets ENOSPC.
  void set_capacity(std::uint64_t bytes);
  // Each read and write handles at most this many bytes.
  void limit_each_call(std::size_t bytes);
  // Every call but close answers EINTR once before it does its work.
  void interrupt_calls();
  // The next such call on a path that contains `path_part` fails, once, without effect.
  void fail_next(Call call, int error_number, const std::string& path_part = "");
  // From the `number`-th step on (counted from 1 over the life of this object) nothing works.
  void crash_at(std::size_t number);
  bool crashed() const;

  // The changing calls so far, those that failed included (an EINTR is not).
  std::vector<Step> steps() const;
  // The whole content by path: files with their bytes, folders as "name/" with no bytes.
  std::map<std::string, std::string> contents() const;
  // The disk as the next boot finds it; a new one without faults, all of it durable.
  FaultyFileSystem after_crash(Unsynced unsynced) const;

 private:
  struct Node;
  struct Place;  // a name in a folder
  struct Handle {
    std::shared_ptr<Node> node;
    std::string path;
    OpenMode mode = OpenMode::read;
    std::uint64_t position = 0;
  };
  struct Failure {
    Call call;
    int error_number;
    std::string path_part;
  };
  explicit FaultyFileSystem(std::shared_ptr<Node> root);

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
  bool do_is_link(const std::string& /*path*/) override { return false; }
  int do_free_space(const std::string& folder, std::optional<std::uint64_t>& bytes) override;

  // The fault due at this call, as -errno, or 0. Counts steps.
  int begin(Call call, const std::string& path, bool changes);
  // 0 or -errno.
  int find(const std::string& path, Place& place) const;
  int remove_place(const std::string& path, bool folder);

  mutable std::mutex mutex_;
  std::shared_ptr<Node> root_;
  std::map<int, Handle> handles_;
  int next_handle_ = 3;
  std::uint64_t capacity_;
  std::size_t call_limit_;
  bool interrupts_ = false;
  bool interrupted_last_ = false;
  std::vector<Failure> failures_;
  std::vector<Step> steps_;
  std::size_t crash_step_ = 0;  // 0: never
  bool crashed_ = false;
};

// The name of an Unsynced kind, for a test's INFO.
const char* name(Unsynced unsynced);

// For each step n that `action` makes on a disk made ready by `prepare` (durably, however it
// writes): runs it on a fresh one with a crash at n, and calls `check` with the disk found after
// it, once per kind of Unsynced. Errors that `action` throws after the crash end it; one before the
// crash is passed on. Returns the number of crashes, so that a test can see that there were any.
std::size_t for_every_crash(
    const std::function<void(FileSystem&)>& prepare, const std::function<void(FileSystem&)>& action,
    const std::function<void(FaultyFileSystem&, std::size_t step, Unsynced)>& check);

}  // namespace odb
