// Small parts on their own: options, facts from /proc, messages through rings, saved starts, the
// start note.
#include "base/error.h"
#include "catch.h"
#include "data/loader/loader_options.h"
#include "data/loader/processes/memory_kills.h"
#include "data/loader/processes/process_use.h"
#include "data/loader/samples/sample_message.h"
#include "data/loader/shared/round_log.h"
#include "data/loader/shared/start_message.h"
#include "faulty_file_system.h"

namespace odb {

TEST_CASE("loader options: names and declarations") {
  LoaderOptions options;
  OptionTable table;
  describe(table, options);
  table.check_declarations();
  CHECK(table.names() == std::vector<std::string>{"data-workers", "depth", "seed"});
}

TEST_CASE("process use: ticks after a name with spaces and parentheses, private memory") {
  CHECK(parse_processor_ticks("7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20") == 300);
  CHECK_FALSE(parse_processor_ticks("7 (a) S 1 2"));
  CHECK_FALSE(parse_processor_ticks(""));
  CHECK(parse_process_state("7 (a b) c) T 1 2 3") == 'T');
  CHECK_FALSE(parse_process_state("7 (a b"));
  const auto own = process_use("test", ::getpid());
  REQUIRE(own);
  CHECK(own->private_bytes > 0);
  CHECK_FALSE(process_use("nobody", 0x7fffffff));
}

namespace {

void write_file(FileSystem& files, const std::string& path, const std::string& text) {
  files.make_folders(parent_folder(path));
  files.write_durably(path, text);
}

}  // namespace

TEST_CASE("memory kills: those of the own control group, or of the machine if it has no count") {
  FaultyFileSystem files;
  const auto write = [&](const std::string& path, const std::string& text) {
    write_file(files, path, text);
  };
  CHECK(count_memory_kills(files) == 0);
  write("/proc/vmstat", "pgfault 12\noom_kill 100\n");
  CHECK(count_memory_kills(files) == 100);
  write("/proc/self/cgroup", "4:memory:/job\n0::/job\n");
  write("/proc/self/mountinfo",
        "30 20 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
        "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "32 20 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  CHECK(count_memory_kills(files) == 100);
  write("/sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n");
  CHECK(count_memory_kills(files) == 100);  // kernels before 4.13
  write("/sys/fs/cgroup/memory/job/memory.oom_control", "under_oom 0\noom_kill 4\n");
  CHECK(count_memory_kills(files) == 4);
  write("/sys/fs/cgroup/unified/job/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n");
  CHECK(count_memory_kills(files) == 6);
}

TEST_CASE("memory kills: a fresh kill explains one death, an old one none") {
  FaultyFileSystem files;
  const auto count = [&](int kills) {
    write_file(files, "/proc/vmstat", fmt::format("oom_kill {}\n", kills));
  };
  const MemoryKills::Clock::time_point begin{};
  const auto at = [&](int seconds) { return begin + std::chrono::seconds(seconds); };
  count(7);
  MemoryKills kills(files, begin);
  CHECK_FALSE(kills.explain_death());
  count(8);
  kills.forget_old(at(9));
  CHECK(kills.explain_death());
  CHECK_FALSE(kills.explain_death());
  count(10);  // two at once
  kills.forget_old(at(11));
  CHECK(kills.explain_death());
  CHECK(kills.explain_death());
  CHECK_FALSE(kills.explain_death());
  count(11);
  kills.forget_old(at(22));  // seen for the first time
  kills.forget_old(at(31));
  count(12);
  kills.forget_old(at(32));
  CHECK(kills.explain_death());  // the one before 22 is old now
  CHECK_FALSE(kills.explain_death());
  count(13);
  kills.forget_old(at(43));
  kills.forget_old(at(54));
  CHECK_FALSE(kills.explain_death());
}

TEST_CASE("messages: an answer is read as it was written, wrong sizes are detected") {
  const SampleRequest request{.generation = 3, .number = 9, .view = {.view = 17, .epoch = 1}};
  const Sample sample{.tokens = {1, 2, 3}, .labels = {-100, 2, 3}, .supervised = 2};
  SampleAnswer header = answer_header(request, {}, sample);
  std::vector<std::byte> record(sizeof header + header.payload_bytes());
  write_answer(header, {}, sample, record);
  const ReadAnswer read = read_answer(record);
  CHECK(read.header.generation == 3);
  CHECK(read.header.number == 9);
  CHECK(read.sample.view == 17);
  CHECK(read.sample.kind == AnswerKind::sample);
  CHECK(read.sample.supervised == 2);
  CHECK(std::vector(read.sample.ids.begin(), read.sample.ids.end()) == sample.tokens);
  CHECK(std::vector(read.sample.labels.begin(), read.sample.labels.end()) == sample.labels);
  CHECK_THROWS_AS(read_answer(std::span(record).first(record.size() - 1)), InternalError);
  CHECK_THROWS_AS(read_answer(std::span(record).first(8)), InternalError);
  CHECK_THROWS_AS(read_request(std::span(record).first(8)), InternalError);

  const ViewAnswer failed{
      .kind = AnswerKind::failed, .code = ExitCode::data, .text = std::string(9000, 'x')};
  header = answer_header(request, failed, sample);
  record.resize(sizeof header + header.payload_bytes());
  write_answer(header, failed, sample, record);
  const SampleView failed_sample = read_answer(record).sample;
  CHECK(failed_sample.code == ExitCode::data);
  CHECK(failed_sample.ids.empty());
  CHECK(failed_sample.text.size() == kMaxAnswerText);
}

TEST_CASE("round log: the newest D + 1 starts are kept, and a replay does not change them") {
  RoundLog log("log", 2, 10000, 1000);
  CHECK(log.newest() == -1);
  const auto round = [](std::int64_t ordinal) {
    SavedRound saved{.ordinal = ordinal, .first_sequence = 10 * ordinal, .start = {}};
    saved.start.round = ordinal;
    saved.start.window = {{.view = ordinal, .sent_back = 1}};
    return saved;
  };
  for (std::int64_t ordinal = 0; ordinal < 5; ++ordinal) {
    log.save(round(ordinal));
    CHECK(log.newest() == ordinal);
    for (std::int64_t kept = std::max<std::int64_t>(0, ordinal - 2); kept <= ordinal; ++kept) {
      CHECK(log.load(kept).start == round(kept).start);
      CHECK(log.load(kept).first_sequence == 10 * kept);
    }
  }
  CHECK_THROWS_AS(log.load(1), InternalError);
  SavedRound other = round(4);
  other.start.window.clear();
  log.save(other);
  CHECK(log.load(4).start == round(4).start);
  SavedRound large = round(5);
  large.start.window.resize(20000, {.view = 1 << 30, .sent_back = 1});
  CHECK_THROWS_AS(log.save(large), InternalError);
  log.clear();
  CHECK(log.newest() == -1);
}

TEST_CASE("round log: a round keeps its refill record and its checksum until it is reused") {
  RoundLog log("log", 2, 10000, 1000);
  const auto save = [&](std::int64_t ordinal) {
    log.save({.ordinal = ordinal, .first_sequence = 0, .start = {}});
  };
  save(0);
  CHECK_FALSE(log.load_refill(0));
  CHECK_FALSE(log.load_checksum(0));
  const RefillRecord record{.items = {{.view = 4, .length = 5, .supervised = 2}},
                            .left_out = {{.view = 9}}};
  log.save_refill(0, record);
  CHECK(log.load_refill(0) == record);
  CHECK_FALSE(log.load_checksum(0));
  log.save_checksum(0, 77);
  save(0);  // a replay
  CHECK(log.load_refill(0) == record);
  CHECK(log.load_checksum(0) == 77);
  log.save_refill(0, {});  // formed from its start
  CHECK(log.load_refill(0) == RefillRecord{});
  CHECK_FALSE(log.load_checksum(0));
  log.save_checksum(0, 78);
  for (const std::int64_t ordinal : {1, 2, 3})
    save(ordinal);  // 3 replaces 0
  CHECK_FALSE(log.load_refill(3));
  CHECK_FALSE(log.load_checksum(3));
  CHECK_THROWS_AS(log.load_refill(0), InternalError);
  CHECK_THROWS_AS(log.save_checksum(0, 1), InternalError);
  RefillRecord large;
  large.items.resize(1000);
  CHECK_THROWS_AS(log.save_refill(3, large), InternalError);
}

TEST_CASE("start note: state, leftovers and address are read as written, and written once") {
  StartMessage message("note", 10000, 3);
  CHECK_FALSE(message.is_written());
  CHECK_THROWS_AS(message.read(), InternalError);
  PipelineStart start{.state = {.slots_taken = 2, .taken = {4, 5}},
                      .leftovers = std::make_shared<const std::vector<ViewId>>(3, 8),
                      .store_address = "host:1234"};
  start.state.start.round = 7;
  message.write(start);
  const PipelineStart read = message.read();
  CHECK(read.state == start.state);
  CHECK(*read.leftovers == *start.leftovers);
  CHECK(read.store_address == "host:1234");
  CHECK_THROWS_AS(message.write(start), InternalError);
  message.clear();
  start.state.taken.resize(20000, 1 << 30);
  CHECK_THROWS_AS(message.write(start), UsageError);
}

}  // namespace odb
