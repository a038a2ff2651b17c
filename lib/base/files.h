// The file system, as an interface with two implementations: RealFileSystem
// (base/real_file_system.h) and the fault-injecting FaultyFileSystem of tests/support.
//
// The public functions hold all the policy: they continue after short writes and interrupted calls,
// order the steps of a durable write, and format the errors. An implementation supplies only the
// private do_... primitives, each one system call that may be short, interrupted or failing. So
// tests with the faulty implementation run the code that runs in production.
//
// Every failure is a FileError that names the path, the system's reason and what to do. All calls
// block as long as the disk does. A FileSystem may be used from several threads at a time, an open
// file from one. Paths are plain strings; relative ones count from the working folder.
//
// Durable means: it survives a loss of power. A file's bytes are durable once synced; its name,
// a rename or a removal once the folder that holds the name is synced.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace odb {

class FileSystem;

enum class OpenMode {
  read,
  create,  // for writing; an existing file is emptied
  append   // for writing at the end; created when missing
};

// An open file: closed when it goes away. Movable. Must not outlive its FileSystem.
class OpenFile {
 public:
  OpenFile(FileSystem& files, std::string path, OpenMode mode);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  const std::string& path() const { return path_; }

 protected:
  // Closes and reports the system's error then (some file systems report a full disk only here).
  void close_checked();
  FileSystem& files() const { return *files_; }
  int handle() const { return handle_; }

 private:
  FileSystem* files_;
  std::string path_;
  int handle_ = -1;
};

// A file open for reading.
class InputFile : public OpenFile {
 public:
  InputFile(FileSystem& files, const std::string& path) : OpenFile(files, path, OpenMode::read) {}

  // Fills `into` from `offset` on. Returns the number of bytes read, less than its size only at the
  // end of the file.
  std::size_t read_at(std::uint64_t offset, std::span<char> into) const;
};

// A file open for writing.
class OutputFile : public OpenFile {
 public:
  using OpenFile::OpenFile;

  // Writes all of `bytes` at the end, or throws; then an unknown part of them was written.
  void write(std::string_view bytes);
  // Makes the bytes written so far durable (not the file's name: FileSystem::sync_folder). After a
  // failure their state is unknown and a second sync would prove nothing: write the file anew.
  void sync();
  // Ends writing. Without it, the destructor closes the file and ignores errors.
  void close() { close_checked(); }
};

// A file that appears under its name only when it is whole: bytes go to `path` + ".tmp" beside it;
// commit() syncs them, renames the file over `path`, and syncs the folder. A crash at any point
// leaves the old file or the new one. Without commit() the destructor removes the temporary file.
// One writer per path at a time.
class DurableFile {
 public:
  DurableFile(FileSystem& files, std::string path);
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile();

  void write(std::string_view bytes) { file_.write(bytes); }
  void commit();

 private:
  FileSystem& files_;
  std::string path_;
  OutputFile file_;
  bool committed_ = false;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  InputFile open(const std::string& path) { return {*this, path}; }
  OutputFile create(const std::string& path) { return {*this, path, OpenMode::create}; }
  OutputFile append(const std::string& path) { return {*this, path, OpenMode::append}; }

  std::string read_all(const std::string& path);
  // Writes a DurableFile in one call.
  void write_durably(const std::string& path, std::string_view bytes);

  // The names in a folder, sorted by byte value, without "." and "..".
  std::vector<std::string> list(const std::string& folder);
  // Makes the folder and all missing parents, durably. An existing folder is no error.
  void make_folders(const std::string& folder);
  // Replaces a file or an empty folder at `to`. Durable once the folders of both are synced.
  void rename(const std::string& from, const std::string& to);
  // Removes a file or an empty folder. Returns whether it existed.
  bool remove(const std::string& path);
  // Removes a file, or a folder with all its contents; links are removed, not followed. Returns
  // whether it existed. After a crash any part of the tree may be left.
  bool remove_tree(const std::string& path);
  // Cuts a file to its first `size` bytes and syncs it. Throws when it is shorter than that.
  void truncate(const std::string& path, std::uint64_t size);
  // Makes the names in a folder durable. A file system that cannot sync folders counts as done.
  void sync_folder(const std::string& folder);

  bool exists(const std::string& path);     // file or folder; a dangling link does not exist
  bool is_folder(const std::string& path);  // false when the path does not exist
  bool is_link(const std::string& path);    // a symbolic link, whatever its target
  std::uint64_t file_size(const std::string& path);
  // Bytes that may still be written below this folder (by a process without privileges). None: the
  // file system does not report it.
  std::optional<std::uint64_t> free_space(const std::string& folder);

 protected:
  struct Status {
    bool folder = false;
    std::uint64_t size = 0;
  };

 private:
  friend class OpenFile;
  friend class InputFile;
  friend class OutputFile;
  friend class DurableFile;

  std::optional<Status> status(const std::string& path);

  // The primitives. Like system calls in a kernel they return a value >= 0, or -errno. Reads and
  // writes may handle fewer bytes than asked for. do_remove on a folder answers -EISDIR.
  virtual int do_open(const std::string& path, OpenMode mode) = 0;
  virtual int do_close(int handle) = 0;
  virtual std::int64_t do_read(int handle, std::uint64_t offset, std::span<char> into) = 0;
  virtual std::int64_t do_write(int handle, std::string_view bytes) = 0;
  virtual int do_sync(int handle) = 0;
  virtual int do_truncate(const std::string& path, std::uint64_t size) = 0;
  virtual int do_list(const std::string& folder, std::vector<std::string>& names) = 0;
  virtual int do_make_folder(const std::string& folder) = 0;
  virtual int do_rename(const std::string& from, const std::string& to) = 0;
  virtual int do_remove(const std::string& path) = 0;
  virtual int do_remove_folder(const std::string& folder) = 0;
  virtual int do_sync_folder(const std::string& folder) = 0;
  virtual int do_status(const std::string& path, Status& status) = 0;
  virtual bool do_is_link(const std::string& path) = 0;
  virtual int do_free_space(const std::string& folder, std::optional<std::uint64_t>& bytes) = 0;
};

// For facts that may be missing (/proc, /sys): the bytes, or none when they cannot be read for any
// reason. Data of a run is read with read_all, which does not hide a failure.
std::string read_if_there(FileSystem& files, const std::string& path);

// "a/b/c" -> "a/b"; "c" -> "."; "/c" -> "/". Slashes at the end do not count.
std::string parent_folder(const std::string& path);
// "a/b/c" -> "c". Slashes at the end do not count.
std::string file_name(const std::string& path);
// "a" and "b" -> "a/b"; an empty folder or "." is left out.
std::string join_path(const std::string& folder, const std::string& name);

}  // namespace odb
