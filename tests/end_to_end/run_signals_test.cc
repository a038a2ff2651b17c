// Signals and streams that a run must survive or be saved from: readers of its log that leave,
// terminals that are closed, warnings of batch systems.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/real_file_system.h"
#include "catch.h"
#include "disposition.h"
#include "terminal.h"
#include "texts.h"
#include "trainer_runs.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;

constexpr int kGoodRows = 90;

// A warning for every third row, by the data processes of each rank.
std::string data_with_bad_rows(const TrainerRun& run) {
  RealFileSystem files;
  std::string bytes;
  for (int part = 0; part < kGoodRows / 2; ++part)
    bytes += files.read_all(run.texts("part.jsonl", 2)) + "{broken\n";
  return run.write("a.jsonl", bytes);
}

Arguments with_bad_rows(const TrainerRun& run) {
  return {"--data",          data_with_bad_rows(run),
          "--on-bad-sample", "skip",
          "--l-max",         "64",
          "--data-workers",  "1",
          "--timeout",       "20min"};
}

Arguments endless(Arguments arguments) {
  arguments.insert(arguments.end(), {"--epochs", "1000000"});
  return arguments;
}

// As `| head -LINES`.
class ReaderThatLeaves {
 public:
  ReaderThatLeaves() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read_ = ends[0];
    write_ = ends[1];
  }
  ReaderThatLeaves(const ReaderThatLeaves&) = delete;
  ReaderThatLeaves& operator=(const ReaderThatLeaves&) = delete;
  ~ReaderThatLeaves() {
    if (read_ >= 0) ::close(read_);
    ::close(write_);
  }

  int writing_end() const { return write_; }
  void read_and_leave(int lines) {
    for (char byte = 0; lines > 0 && ::read(read_, &byte, 1) == 1;)
      lines -= byte == '\n' ? 1 : 0;
    ::close(std::exchange(read_, -1));
  }

 private:
  int read_ = -1;
  int write_ = -1;
};

void await_steps(TrainerRun& run, Terminal* terminal = nullptr) {
  await("steps are written", [&] {
    if (terminal != nullptr) terminal->text();
    return run.logged_steps() >= 3 || run.ended(0);
  });
}

// All ranks at the same step, of which there is a checkpoint, and the reason is recorded.
void check_saved(TrainerRun& run, int world, const std::string& reason) {
  const auto last = last_steps(run);
  REQUIRE(static_cast<int>(last.size()) == world);
  for (const auto& [rank, steps] : last)
    CHECK(steps == last.at(0));
  whole_checkpoint(run, last.at(0));
  CHECK_THAT(content_of(run.paths().lives()), Catch::Contains("\"" + reason));
  run.await_nothing_left();
}

}  // namespace

TEST_CASE("A run goes on to its end when the reader of its log leaves") {
  for (const int lines : {0, 3}) {
    INFO("after " << lines << " lines");
    ReaderThatLeaves reader;
    TrainerRun run;
    run.write_to(reader.writing_end());
    if (lines == 0) reader.read_and_leave(0);
    run.start(1, with_bad_rows(run));
    if (lines > 0) reader.read_and_leave(lines);
    CHECK(run.await_end() == std::vector<int>{0});
    CHECK(run.summary().at("samples") == kGoodRows);
    check_saved(run, 1, "done: ");
  }
}

// `launch ... 2>&1 | tee log`: Ctrl-C ends tee, too.
TEST_CASE("Ctrl-C saves a run of launch whose reader has left") {
  for (const int lines : {0, 3}) {
    INFO("after " << lines << " lines");
    ReaderThatLeaves reader;
    TrainerRun run;
    run.write_to(reader.writing_end());
    if (lines == 0) reader.read_and_leave(0);
    run.launch(2, endless(with_bad_rows(run)));
    if (lines > 0) reader.read_and_leave(lines);
    await_steps(run);
    run.send(0, SIGINT);
    CHECK(run.await_end() == std::vector<int>{75});
    check_saved(run, 2, "SIGINT");
  }
}

TEST_CASE("A terminal that is closed saves the run, with code 75") {
  const ScopedDisposition as_from_a_shell(SIGHUP, SIG_DFL);
  struct Case {
    bool launched;
    const char* console;
  };
  for (const auto& [launched, console] :
       {Case{true, "lines"}, Case{true, "bar"}, Case{false, "bar"}}) {
    INFO((launched ? "launch, " : "train, ") << console);
    Terminal terminal;
    TrainerRun run;
    run.write_to(terminal);
    Arguments arguments = endless(with_bad_rows(run));
    arguments.insert(arguments.end(), {"--console", console});
    if (launched)
      run.launch(2, arguments);
    else
      run.start(1, arguments);
    await_steps(run, &terminal);
    terminal.hang_up();
    const std::vector<int> codes = run.await_end();
    INFO(terminal.text());
    CHECK(codes == std::vector<int>{75});
    check_saved(run, launched ? 2 : 1, "SIGHUP");
  }
}

TEST_CASE("A run started by nohup outlives its terminal, and can be stopped") {
  const ScopedDisposition by_nohup(SIGHUP, SIG_IGN);
  Terminal terminal;
  TrainerRun run;
  run.write_to(terminal);
  run.launch(2, endless(with_bad_rows(run)));
  await_steps(run, &terminal);
  terminal.hang_up();
  run.send(0, SIGHUP);
  const std::size_t before = run.logged_steps();
  await("steps go on", [&] { return run.logged_steps() >= before + 30 || run.ended(0); });
  CHECK_FALSE(run.ended(0));
  run.send(0, SIGTERM);
  CHECK(run.await_end() == std::vector<int>{75});
  check_saved(run, 2, "SIGTERM");
}

TEST_CASE("The warnings of batch systems, to all processes of a run, save it") {
  for (const auto& [signal, name] : {std::pair{SIGUSR2, "SIGUSR2"}, {SIGXCPU, "SIGXCPU"}}) {
    TrainerRun run;
    run.start(1, endless(with_bad_rows(run)));
    await_steps(run);
    for (const pid_t process : run.data_processes(0))
      ::kill(process, signal);
    run.send(0, signal);
    CHECK(run.await_end() == std::vector<int>{75});
    INFO(run.all_lines());
    CHECK(count_of(run.all_lines(), "died by") == 0);
    check_saved(run, 1, name);
  }
}

// Rank 1 is stopped, so that rank 0 cannot end what it is at.
TEST_CASE("A stop is acknowledged once, while the run cannot end yet") {
  TrainerRun run;
  run.start(2, endless(with_bad_rows(run)));
  await_steps(run);
  run.send(1, SIGSTOP);
  run.send(0, SIGTERM);
  const std::string notice = "SIGTERM: finishing the micro-batch and saving\n";
  await("it is acknowledged", [&] { return count_of(run.lines(0), notice) > 0 || run.ended(0); });
  run.send(0, SIGTERM);
  run.send(1, SIGTERM);
  run.send(1, SIGCONT);
  CHECK(run.await_end() == std::vector<int>{75, 75});
  INFO(run.all_lines());
  CHECK(count_of(run.all_lines(), notice) == 1);
  check_saved(run, 2, "SIGTERM");
}
