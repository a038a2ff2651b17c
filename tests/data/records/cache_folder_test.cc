// Which folder a cache file is read from and written to, and what is left there.
#include "data/records/cache_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/error.h"
#include "catch.h"
#include "faulty_file_system.h"
#include "records/record_texts.h"

using namespace odb;

namespace {

constexpr uid_t kNobody = 65534;

void build_text(FileSystem& files, const std::string& path, std::string_view text) {
  OutputFile file = files.create(path);
  file.write(text);
  file.sync();
  file.close();
}

// Makes the cache file "x" of `data`, whose content is "whole".
std::string make_x(const CacheFolder& cache, const std::string& data) {
  return cache.find_or_make(
      data, CacheFolder::name_of(data, ".x"),
      [&](const std::string& path) { return read_if_there(cache.files(), path) == "whole"; },
      [&](const std::string& temporary, const std::string&) {
        build_text(cache.files(), temporary, "whole");
      });
}

// What `action` returns or throws in a child process without write permission here.
std::string as_nobody(const std::function<std::string()>& action) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string result;
    try {
      if (::getuid() == 0 && ::setuid(kNobody) != 0) throw std::runtime_error("setuid failed");
      result = action();
    } catch (const std::exception& error) {
      result = error.what();
    }
    const auto written = ::write(ends[1], result.data(), result.size());
    ::_exit(written < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::string result;
  std::array<char, 4096> buffer{};
  for (ssize_t got; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    result.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  return result;
}

}  // namespace

TEST_CASE("A cache file is next to the data, else in the home folder, or in the given folder") {
  DataFolder folder;
  const std::string data = folder.put("a.jsonl", "{1}\n");
  const std::string name = CacheFolder::name_of(data, ".x");
  CHECK(name == CacheFolder::key_of(data) + "a.jsonl.x");
  const CacheFolder cache(folder.files(), "", folder.path("home/.cache/odb-trainer"));
  const std::vector<std::string> places{folder.path(".odb-cache/" + name),
                                        folder.path("home/.cache/odb-trainer/" + name)};
  CHECK(cache.places(data, name) == places);
  SECTION("made next to the data") {
    CHECK(make_x(cache, data) == places[0]);
    CHECK(folder.files().list(folder.path(".odb-cache")) == std::vector<std::string>{name});
  }
  SECTION("found where it lies") {
    folder.files().make_folders(folder.path("home/.cache/odb-trainer"));
    folder.files().write_durably(places[1], "whole");
    CHECK(make_x(cache, data) == places[1]);
    CHECK_FALSE(folder.files().exists(folder.path(".odb-cache")));
  }
  SECTION("one that does not fit is made anew") {
    folder.files().make_folders(folder.path("home/.cache/odb-trainer"));
    folder.files().write_durably(places[1], "half");
    CHECK(make_x(cache, data) == places[0]);
  }
  SECTION("a file in the folder's place") {
    folder.put(".odb-cache", "no folder");
    CHECK(make_x(cache, data) == places[1]);
  }
  SECTION("no place at all") {
    folder.put(".odb-cache", "no folder");
    folder.put("home", "no folder");
    CHECK_THROWS_WITH(make_x(cache, data), Catch::Contains("a.jsonl: no folder for its index") &&
                                               Catch::Contains("--cache-dir"));
    CHECK_THROWS_WITH(
        make_x(CacheFolder(folder.files(), "", ""), data),
        Catch::Contains("the user has no home folder") && Catch::Contains("--cache-dir"));
  }
  SECTION("chosen") {
    const CacheFolder chosen(folder.files(), folder.path("chosen"), folder.path("user"));
    CHECK(make_x(chosen, data) == folder.path("chosen/" + name));
  }
}

TEST_CASE("The user's folder follows XDG_CACHE_HOME, then HOME, then the user database") {
  CHECK(CacheFolder::user_cache_folder("/xdg", "/home/a", "/db/a") == "/xdg/odb-trainer");
  CHECK(CacheFolder::user_cache_folder("", "/home/a", "/db/a") == "/home/a/.cache/odb-trainer");
  CHECK(CacheFolder::user_cache_folder("relative", "/home/a", "") == "/home/a/.cache/odb-trainer");
  CHECK(CacheFolder::user_cache_folder("", "", "/db/a") == "/db/a/.cache/odb-trainer");
  CHECK(CacheFolder::user_cache_folder("", "relative", "/db/a") == "/db/a/.cache/odb-trainer");
  CHECK(CacheFolder::user_cache_folder("", "", "").empty());
  // What the process really has; in a child, because a variable belongs to the whole process.
  const auto folder_with = [](const char* xdg, const char* home) {
    return as_nobody([=]() -> std::string {
      for (const auto& [name, value] : {std::pair("XDG_CACHE_HOME", xdg), std::pair("HOME", home)})
        if ((value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1)) != 0) return "errno";
      return CacheFolder::user_cache_folder();
    });
  };
  CHECK(folder_with("/xdg", "/home/a") == "/xdg/odb-trainer");
  CHECK(folder_with(nullptr, "/home/a") == "/home/a/.cache/odb-trainer");
}

TEST_CASE("An existing index is used from a folder that cannot be written") {
  DataFolder folder;
  folder.files().make_folders(folder.path("data"));
  const std::string data = folder.put("data/a.jsonl", "{1}\n{2}\n");
  RealFileSystem files;
  const auto rows = [&] {
    const RecordFile file(data, CacheFolder(files, "", folder.path("none")));
    return fmt::format("{} rows", file.rows());
  };
  CHECK(rows() == "2 rows");
  for (const std::string& path :
       {folder.path(""), folder.path("data"), folder.path("data/.odb-cache")})
    REQUIRE(::chmod(path.c_str(), 0555) == 0);
  CHECK(as_nobody(rows) == "2 rows");
  folder.files().remove(folder.path("data/.odb-cache/" + CacheFolder::name_of(data, ".index")));
  CHECK_THAT(as_nobody(rows), Catch::Contains("--cache-dir"));
  for (const std::string& path :
       {folder.path(""), folder.path("data"), folder.path("data/.odb-cache")})
    REQUIRE(::chmod(path.c_str(), 0755) == 0);
}

TEST_CASE("A build removes what killed builds left") {
  DataFolder folder;
  const std::string data = folder.put("a.jsonl", "{1}\n");
  const CacheFolder cache = folder.cache();
  const std::string path = cache.places(data, CacheFolder::name_of(data, ".x")).front();
  std::array<char, 256> host{};
  REQUIRE(::gethostname(host.data(), host.size() - 1) == 0);
  folder.files().make_folders(folder.path("cache"));
  folder.files().write_durably(fmt::format("{}.{}-12345.tmp", path, host.data()), "half");
  folder.files().write_durably(path + ".otherhost-12345.tmp", "half");
  folder.files().write_durably(path + ".lock", "");
  CHECK(make_x(cache, data) == path);
  CHECK(folder.files().list(folder.path("cache")) ==
        std::vector<std::string>{file_name(path), file_name(path) + ".otherhost-12345.tmp"});
}

TEST_CASE("A build that is interrupted anywhere leaves the whole file or none") {
  constexpr std::string_view kData = "/data/a.jsonl";
  const std::string path = "/cache/" + CacheFolder::name_of(std::string(kData), ".x");
  const std::size_t crashes = for_every_crash(
      [](FileSystem& disk) { disk.make_folders("/cache"); },
      [&](FileSystem& disk) { make_x(CacheFolder(disk, "/cache"), std::string(kData)); },
      [&](FaultyFileSystem& disk, std::size_t step, Unsynced unsynced) {
        INFO("crash at " << step << ", unsynced " << name(unsynced));
        if (disk.exists(path)) CHECK(disk.read_all(path) == "whole");
      });
  CHECK(crashes >= 4);
}
