#include "train/output/run_folder.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include <spdlog/sinks/ostream_sink.h>

#include "base/error.h"
#include "base/log.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "temporary_folder.h"

using namespace odb;

namespace {

// Another process that holds the lock at `path` until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& path) {
    std::array<int, 2> ready = {};
    REQUIRE(::pipe(ready.data()) == 0);
    process_ = ::fork();
    if (process_ == 0) {
      RunLock lock(path, {.host_info = {.host = "node7", .pid = 4711, .job = "99"},
                          .nonce = "abc",
                          .released = false});
      const char done = 1;
      if (::write(ready[1], &done, 1) == 1) ::pause();
      ::_exit(0);
    }
    ::close(ready[1]);
    char done = 0;
    REQUIRE(::read(ready[0], &done, 1) == 1);
    ::close(ready[0]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() { kill(); }

  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
};

// What is logged while it lives.
class LogTexts {
 public:
  LogTexts() { set_log_sink(std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)); }
  ~LogTexts() { set_log_sink(standard_error_sink()); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

std::string refusal(FileSystem& files, const std::string& output, ExistingRun existing) {
  try {
    RunFolder(files, output, existing, "{}\n");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A new run folder has its options, folders for ledger and checkpoints, and a lock") {
  const TemporaryFolder folder;
  RealFileSystem files;
  const std::string output = folder / "runs/first";
  {
    RunFolder run(files, output, ExistingRun::refuse, "{\"lr\": 1}\n");
    CHECK(files.read_all(run.paths().config()) == "{\"lr\": 1}\n");
    CHECK(files.list(output) ==
          std::vector<std::string>{"checkpoints", "config.json", "ledger", "lock"});
    CHECK(run.lock().still_ours());
  }
  CHECK(parse_lock_owner(files.read_all(output + "/lock")).released);
}

TEST_CASE("What no run has written is left alone, --overwrite or not") {
  const TemporaryFolder folder;
  RealFileSystem files;
  files.write_durably(folder / "config.json", "{\"model_type\": \"qwen3\"}");
  for (const ExistingRun existing : {ExistingRun::refuse, ExistingRun::overwrite}) {
    for (int time = 0; time < 2; ++time)  // nor does the refusal itself leave a lock
      CHECK_THAT(refusal(files, folder.path(), existing),
                 Catch::Contains("found config.json there"));
    CHECK(files.read_all(folder / "config.json") == "{\"model_type\": \"qwen3\"}");
  }
}

TEST_CASE("A folder that another process writes into is refused with its owner's name") {
  const TemporaryFolder folder;
  RealFileSystem files;
  const Holder holder(folder / "lock");
  const std::string said = refusal(files, folder.path(), ExistingRun::overwrite);
  CHECK_THAT(said, Catch::Contains("process 4711 on node7 (job 99)"));
  CHECK_THAT(said, Catch::Contains("--output"));
  CHECK(run_entries(files, folder.path()).empty());
}

TEST_CASE("The lock of an owner that was killed is taken over, and that is logged") {
  const TemporaryFolder folder;
  RealFileSystem files;
  Holder(folder / "lock").kill();
  const LogTexts log;
  const RunLock lock(folder / "lock", this_owner());
  CHECK_THAT(log.text(), Catch::Contains("process 4711 on node7 (job 99) died"));
  CHECK(lock.still_ours());
}

TEST_CASE("A lock given back, an empty file and other contents are taken without a log line") {
  const TemporaryFolder folder;
  const LogTexts log;
  { const RunLock lock(folder / "lock", this_owner()); }
  { const RunLock lock(folder / "lock", this_owner()); }
  folder.write("lock", "");
  { const RunLock lock(folder / "lock", this_owner()); }
  folder.write("lock", "[1, 2");
  { const RunLock lock(folder / "lock", this_owner()); }
  CHECK(log.text().empty());
}

TEST_CASE("An owner notices that another took the folder") {
  const TemporaryFolder folder;
  RealFileSystem files;
  const LockOwner other{
      .host_info = {.host = "node8", .pid = 5, .job = ""}, .nonce = "other", .released = false};
  {
    const RunLock lock(folder / "lock", this_owner());
    folder.write("lock", to_json(other));
    CHECK_FALSE(lock.still_ours());
  }
  CHECK(parse_lock_owner(files.read_all(folder / "lock")) == other);
}

TEST_CASE("Owners are read back from their text, and no two are the same") {
  const LockOwner owner{
      .host_info = {.host = "node7", .pid = 4711, .job = "99"}, .nonce = "abc", .released = true};
  CHECK(parse_lock_owner(to_json(owner)) == owner);
  CHECK(parse_lock_owner("{\"pid\": \"x\", \"host\": 3}") == LockOwner{});
  CHECK(this_owner().nonce != this_owner().nonce);
  CHECK(this_owner().host_info.pid == ::getpid());
}

TEST_CASE("A folder that holds a run is refused with its files and what to do") {
  const TemporaryFolder folder;
  RealFileSystem files;
  { RunFolder run(files, folder.path(), ExistingRun::refuse, "{}\n"); }
  folder.write("metrics.jsonl", "{\"step\": 1}\n");
  folder.write("notes.txt", "mine");
  const std::string said = refusal(files, folder.path(), ExistingRun::refuse);
  CHECK_THAT(said, Catch::Contains("checkpoints, config.json, ledger, metrics.jsonl"));
  CHECK_THAT(said, Catch::Contains("--overwrite on"));
  CHECK(files.exists(folder / "metrics.jsonl"));

  { RunFolder run(files, folder.path(), ExistingRun::resume, "{\"a\": 1}\n"); }
  CHECK(files.exists(folder / "metrics.jsonl"));
  CHECK(files.read_all(folder / "config.json") == "{\"a\": 1}\n");

  folder.write("checkpoints/step-00000001/MANIFEST.json", "{}");
  folder.write("events.out.tfevents.1.node", "x");
  { RunFolder run(files, folder.path(), ExistingRun::overwrite, "{}\n"); }
  CHECK(files.list(folder.path()) ==
        std::vector<std::string>{"checkpoints", "config.json", "ledger", "lock", "notes.txt"});
  CHECK(files.list(folder / "checkpoints").empty());
}

TEST_CASE("A start that never trained does not block the next one") {
  const TemporaryFolder folder;
  RealFileSystem files;
  { RunFolder run(files, folder.path(), ExistingRun::refuse, "{}\n"); }
  folder.write("metrics.jsonl", "");
  folder.write("lives.jsonl", "{\"life\": 0}\n");
  CHECK(refusal(files, folder.path(), ExistingRun::refuse).empty());
  CHECK_FALSE(files.exists(folder / "lives.jsonl"));
}

TEST_CASE("An output that cannot be a folder is refused") {
  const TemporaryFolder folder;
  RealFileSystem files;
  CHECK_THAT(refusal(files, "", ExistingRun::refuse), Catch::Contains("--output is missing"));
  CHECK_THAT(refusal(files, folder.write("file", "x"), ExistingRun::refuse),
             Catch::Contains("found a file"));
}
