// The file system's contract, one test for both implementations; then what only one of them can
// show.
#include "base/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "faulty_file_system.h"
#include "temporary_folder.h"

using namespace odb;
using Catch::Contains;
using Call = FaultyFileSystem::Call;

namespace {

using Names = std::vector<std::string>;

void write(FileSystem& files, const std::string& path, std::string_view bytes) {
  OutputFile file = files.create(path);
  file.write(bytes);
  file.close();
}

void append(FileSystem& files, const std::string& path, std::string_view bytes) {
  OutputFile file = files.append(path);
  file.write(bytes);
  file.sync();
  file.close();
}

void check_contract(FileSystem& files, const std::string& root) {
  const auto at = [&](const char* name) { return join_path(root, name); };

  files.make_folders(at("a/b/c"));
  files.make_folders(at("a/b/c/"));
  CHECK(files.is_folder(at("a/b")));
  CHECK_FALSE(files.is_folder(at("a/x")));

  write(files, at("a/two"), "22");
  write(files, at("a/one"), "1");
  write(files, at("a/Zero"), "");
  CHECK(files.list(at("a")) == Names{"Zero", "b", "one", "two"});
  CHECK(files.list(at("a/b/c")).empty());
  CHECK(files.exists(at("a/two")));
  CHECK_FALSE(files.exists(at("a/three")));
  CHECK_FALSE(files.exists(at("a/two/three")));
  CHECK_FALSE(files.is_folder(at("a/two")));
  CHECK(files.file_size(at("a/two")) == 2);

  write(files, at("a/two"), "anew");
  append(files, at("a/two"), " and");
  append(files, at("a/two"), " on");
  append(files, at("a/first"), "made by append");
  CHECK(files.read_all(at("a/two")) == "anew and on");
  CHECK(files.read_all(at("a/first")) == "made by append");
  CHECK(files.read_all(at("a/Zero")).empty());

  const InputFile file = files.open(at("a/two"));
  std::string piece(4, '?');
  CHECK(file.read_at(5, piece) == 4);
  CHECK(piece == "and ");
  CHECK(file.read_at(9, piece) == 2);
  CHECK(file.read_at(11, piece) == 0);
  CHECK(file.read_at(500, piece) == 0);

  files.truncate(at("a/two"), 4);
  CHECK(files.read_all(at("a/two")) == "anew");
  CHECK_THROWS_WITH(files.truncate(at("a/two"), 5), Contains("to 5 bytes: it has only 4"));
  CHECK_THROWS_AS(files.truncate(at("a/nothing"), 0), FileError);
  CHECK_FALSE(files.exists(at("a/nothing")));

  files.rename(at("a/two"), at("a/one"));
  CHECK(files.read_all(at("a/one")) == "anew");
  CHECK_FALSE(files.exists(at("a/two")));
  files.rename(at("a/b/c"), at("a/c"));
  CHECK(files.list(at("a/b")).empty());
  files.rename(at("a/b"), at("a/c"));
  CHECK(files.is_folder(at("a/c")));
  write(files, at("a/c/inside"), "x");
  files.make_folders(at("a/d"));
  CHECK_THROWS_WITH(files.rename(at("a/d"), at("a/c")), Contains("Directory not empty"));
  CHECK_THROWS_WITH(files.rename(at("a/one"), at("a/c")), Contains("Is a directory"));
  CHECK_THROWS_WITH(files.rename(at("a/c"), at("a/one")), Contains("Not a directory"));
  CHECK_THROWS_WITH(files.rename(at("a"), at("a/c/a")), Contains("Invalid argument"));
  CHECK_THROWS_WITH(files.rename(at("a/none"), at("a/x")), Contains("a/none to "));

  CHECK_FALSE(files.remove(at("a/none")));
  CHECK(files.remove(at("a/d")));
  CHECK_THROWS_WITH(files.remove(at("a/c")), Contains("Directory not empty"));
  CHECK(files.remove(at("a/first")));
  CHECK_FALSE(files.remove_tree(at("a/none")));
  CHECK(files.remove_tree(at("a")));
  CHECK_FALSE(files.exists(at("a")));

  files.write_durably(at("state.json"), "{}");
  files.write_durably(at("state.json"), "{1}");
  CHECK(files.read_all(at("state.json")) == "{1}");
  CHECK(files.list(root) == Names{"state.json"});
  files.sync_folder(root);
  CHECK(files.free_space(root) > 0);
}

void check_errors(FileSystem& files, const std::string& root) {
  const auto at = [&](const char* name) { return join_path(root, name); };
  write(files, at("file"), "x");
  files.make_folders(at("folder"));
  CHECK_THROWS_WITH(files.read_all(at("none")),
                    "cannot open " + at("none") +
                        " for reading: No such file or directory (errno 2); check the path");
  CHECK_THROWS_WITH(files.create(at("none/file")),
                    Contains("none/file for writing: No such file or directory"));
  CHECK_THROWS_WITH(files.append(at("folder")), Contains("Is a directory"));
  CHECK_THROWS_WITH(files.read_all(at("folder")), Contains("Is a directory"));
  CHECK_THROWS_WITH(files.list(at("none")), Contains("cannot list the folder " + at("none")));
  CHECK_THROWS_WITH(files.list(at("file")), Contains("Not a directory"));
  CHECK_THROWS_WITH(files.make_folders(at("file/below")), Contains("file: File exists"));
  CHECK_THROWS_WITH(files.make_folders(at("file")),
                    Contains("cannot make the folder " + at("file") + ": File exists"));
  CHECK_THROWS_WITH(files.sync_folder(at("none")), Contains("No such file"));
  CHECK_THROWS_WITH(files.file_size(at("none")), Contains("cannot access " + at("none")));
  CHECK_THROWS_WITH(files.free_space(at("none")), Contains("No such file"));
  CHECK_THROWS_AS(files.write_durably(at("none/state.json"), "{}"), FileError);
}

}  // namespace

TEST_CASE("A file system that does not count its blocks has an unknown free space, not none") {
  RealFileSystem files;
  CHECK(files.free_space("/proc") == std::nullopt);
}

TEST_CASE("Links are recognized, whatever their target") {
  const TemporaryFolder folder;
  RealFileSystem files;
  folder.write("file", "x");
  std::filesystem::create_symlink(folder / "file", folder / "link");
  std::filesystem::create_symlink(folder / "none", folder / "dangling");
  CHECK(files.is_link(folder / "link"));
  CHECK(files.is_link(folder / "dangling"));
  CHECK_FALSE(files.is_link(folder / "file"));
  CHECK_FALSE(files.is_link(folder / "none"));
}

TEST_CASE("files keep their contract") {
  TemporaryFolder folder;
  RealFileSystem real;
  FaultyFileSystem faulty;
  SECTION("on the operating system's") {
    check_contract(real, folder.path());
  }
  SECTION("in memory") {
    check_contract(faulty, "/");
  }
  SECTION("in memory, with short and interrupted calls") {
    faulty.limit_each_call(1);
    faulty.interrupt_calls();
    check_contract(faulty, ".");
  }
}

TEST_CASE("failures name the path, the reason and what to do") {
  TemporaryFolder folder;
  RealFileSystem real;
  FaultyFileSystem faulty;
  SECTION("on the operating system's") {
    check_errors(real, folder.path());
  }
  SECTION("in memory") {
    check_errors(faulty, "/");
  }
}

TEST_CASE("a file without a known size is read to its end") {
  RealFileSystem files;
  CHECK_THAT(files.read_all("/proc/self/status"), Contains("VmRSS"));
  CHECK(files.file_size("/proc/self/status") == 0);
}

TEST_CASE("links are removed, not followed, a dangling one does not exist") {
  TemporaryFolder folder;
  RealFileSystem files;
  const std::string kept = folder.write("kept/file", "x");
  files.make_folders(folder / "tree/deep");
  std::filesystem::create_directory_symlink(folder / "kept", folder / "tree/deep/link");
  std::filesystem::create_symlink(folder / "nowhere", folder / "tree/dangling");
  CHECK_FALSE(files.exists(folder / "tree/dangling"));
  CHECK(files.remove_tree(folder / "tree"));
  CHECK(files.read_all(kept) == "x");
  CHECK(files.list(folder.path()) == Names{"kept"});
}

TEST_CASE("a full device is an error that says how far writing came") {
  RealFileSystem files;
  OutputFile full = files.append("/dev/full");
  CHECK_THROWS_WITH(full.write("data"),
                    "cannot write /dev/full (0 of 4 bytes done): No space left on device (errno "
                    "28); free some space there or choose another folder");
}

TEST_CASE("descriptors are closed with their files and not handed to programs") {
  TemporaryFolder folder;
  RealFileSystem files;
  const auto open_descriptors = [&] { return files.list("/proc/self/fd").size(); };
  const std::size_t before = open_descriptors();
  {
    OutputFile first = files.create(folder / "first");
    OutputFile second = files.create(folder / "second");
    CHECK(open_descriptors() == before + 2);
    second = std::move(first);
    second.write("x");
    OutputFile third = std::move(second);
    third.write("y");
    third.close();
    CHECK_THROWS_AS(third.close(), InternalError);
    CHECK_THROWS_AS(files.write_durably(folder / "none/x", "x"), FileError);
  }
  CHECK(open_descriptors() == before);
  CHECK(files.read_all(folder / "first") == "xy");
  files.sync_folder(folder.path());
  CHECK(open_descriptors() == before);
}

TEST_CASE("TemporaryFolder removes everything") {
  RealFileSystem files;
  std::string path;
  {
    TemporaryFolder folder;
    path = folder.path();
    CHECK(files.read_all(folder.write("a/b/c", "deep")) == "deep");
  }
  CHECK_FALSE(files.exists(path));
}

TEST_CASE("a failing disk is reported with the system's error") {
  struct Row {
    Call call;
    int error_number;
    const char* message;
  };
  const Row rows[] = {
      {Call::open, EACCES,
       "open state.json.tmp for writing: Permission denied (errno 13); check the owner"},
      {Call::open, EMFILE,
       "Too many open files (errno 24); raise the limit of open files (ulimit -n)"},
      {Call::write, EDQUOT, "write state.json.tmp (0 of 2 bytes done): Disk quota exceeded"},
      {Call::sync, EIO, "sync state.json.tmp: Input/output error (errno 5); the storage"},
      {Call::close, EIO, "close state.json.tmp: Input/output error"},
      {Call::rename, EROFS, "rename state.json.tmp to state.json: Read-only file system"},
      {Call::sync_folder, EIO, "sync the folder .: Input/output error"},
  };
  for (const Row& row : rows) {
    FaultyFileSystem files;
    files.fail_next(row.call, row.error_number);
    CHECK_THROWS_WITH(files.write_durably("state.json", "{}"), Contains(row.message));
    CHECK_FALSE(files.exists("state.json.tmp"));
    files.write_durably("state.json", "{}");
    CHECK(files.read_all("state.json") == "{}");
  }
}

TEST_CASE("failures of reading are reported too") {
  FaultyFileSystem files;
  files.write_durably("file", "bytes");
  files.fail_next(Call::status, EACCES);
  CHECK_THROWS_WITH(files.exists("file"), Contains("access file: Permission denied"));
  files.fail_next(Call::read, EIO, "file");
  CHECK_THROWS_WITH(files.read_all("file"), Contains("read file at byte 0: Input/output error"));
  files.fail_next(Call::list, EIO);
  CHECK_THROWS_WITH(files.list("/"), Contains("list the folder /"));
  files.fail_next(Call::free_space, EIO);
  CHECK_THROWS_WITH(files.free_space("/"), Contains("free space of /"));
}

TEST_CASE("a file system that cannot sync folders can still be used") {
  FaultyFileSystem files;
  files.fail_next(Call::sync_folder, EINVAL);
  files.write_durably("state.json", "{}");
  CHECK(files.read_all("state.json") == "{}");
}

TEST_CASE("paths are taken apart and put together") {
  struct Row {
    const char* path;
    const char* parent;
    const char* name;
  };
  const Row rows[] = {{"a/b/c", "a/b", "c"}, {"c", ".", "c"},  {"/c", "/", "c"},
                      {"a/b/", "a", "b"},    {"/", "/", ""},   {"///", "/", ""},
                      {"a//b", "a", "b"},    {"./c", ".", "c"}};
  for (const Row& row : rows) {
    INFO(row.path);
    CHECK(parent_folder(row.path) == row.parent);
    CHECK(file_name(row.path) == row.name);
  }
  CHECK(join_path("a", "b/c") == "a/b/c");
  CHECK(join_path("a/", "b") == "a/b");
  CHECK(join_path("/", "b") == "/b");
  CHECK(join_path("", "b") == "b");
  CHECK(join_path(".", "b") == "b");
}
