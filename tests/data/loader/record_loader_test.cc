// Loaders over real files: the batches hold the samples of the sample maker; files that change, and
// limits of the machine.
#include "data/loader/record_loader.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "temporary_folder.h"
#include "test_trainer.h"

namespace odb {
namespace {

std::string word(int number) {
  constexpr const char* kWords[] = {"the", "house", "of", "seven", "lakes", "and", "no", "stone"};
  return kWords[number % 8];
}

// Row `row`: a conversation whose answer has (row * 13) % 50 + 1 words.
std::string conversation(int row) {
  std::string answer;
  for (int i = 0; i <= row * 13 % 50; ++i)
    answer += word(row + i) + " ";
  return R"({"messages": [{"role": "user", "content": "tell )" + std::to_string(row) +
         R"("}, {"role": "assistant", "content": ")" + answer + "\"}]}\n";
}

std::string tokens(int row) {
  std::string ids;
  for (int i = 0; i <= 2 + row * 13 % 50; ++i)
    ids += (i > 0 ? ", " : "") + std::to_string((row + i) % 200);
  return "{\"input_ids\": [" + ids + "]}\n";
}

struct Files {
  explicit Files(std::string (*row)(int), int rows = 300) {
    std::string text;
    for (int i = 0; i < rows; ++i)
      text += row(i);
    options.data = {folder.write("data.jsonl", text)};
    options.tokenizer = ODB_TESTS_FOLDER "/cases/tokenizer/merges_pairs";
    options.chat_template = "chatml";
    options.cutoff_len = 100;
  }

  LoaderSetup loader(const SampleSource& source, Strategy strategy = Strategy::odb) const {
    BatchingOptions batching = small_options();
    batching.strategy = strategy;
    return record_loader(source, batching, {.data_workers = 2, .depth = 3, .seed = 5}, 0, 1);
  }

  TemporaryFolder folder;
  DataOptions options;
  RealFileSystem files;
};

// Runs an epoch and compares every row with the sample made here. Returns the number of rows.
std::int64_t check_epoch(const LoaderSetup& setup, const SampleSource& source) {
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  pipeline.start(epoch_start(setup));
  const auto builder = source.preprocessor().builder();
  Sample sample;
  std::int64_t rows = 0;
  bool right = true;
  for (bool ended = false; !ended;) {
    const auto batch = pipeline.next(kPatience);
    REQUIRE(batch);
    for (std::size_t row = 0; row < batch->views.size(); ++row, ++rows) {
      builder->build(source.records().files()[0], static_cast<std::uint64_t>(batch->views[row]),
                     sample);
      const auto begin = static_cast<std::size_t>(batch->offsets[row]);
      right = right &&
              std::equal(sample.tokens.begin(), sample.tokens.end(),
                         batch->ids.begin() + static_cast<std::ptrdiff_t>(begin)) &&
              std::equal(sample.labels.begin(), sample.labels.end(),
                         batch->labels.begin() + static_cast<std::ptrdiff_t>(begin)) &&
              batch->offsets[row + 1] == batch->offsets[row] + std::ssize(sample.tokens);
    }
    ended = batch->header.kind == SlotKind::end;
    pipeline.release();
  }
  CHECK(right);
  return rows;
}

// Takes slots until the loader fails, and changes the file after the first one.
template <typename Change>
std::string failure_after(const Files& given, Change&& change) {
  Files& mutable_files = const_cast<Files&>(given);
  const SampleSource source(mutable_files.files, given.options, 5);
  LoaderSetup setup = given.loader(source);
  setup.epochs = 1 << 20;
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  pipeline.start(epoch_start(setup));
  for (int slot = 0;; ++slot) {
    try {
      const bool came = pipeline.next(kPatience).has_value();
      REQUIRE(came);
      pipeline.release();
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::data);
      return error.what();
    }
    if (slot == 0) change();
  }
}

}  // namespace

TEST_CASE("record loader: batches hold the samples of conversations and of token ids") {
  for (const auto& row : {conversation, tokens}) {
    Files given(row);
    const SampleSource source(given.files, given.options, 5);
    CHECK(longest_sample(source) == 100);
    CHECK(check_epoch(given.loader(source), source) == 300);
    CHECK(check_epoch(given.loader(source, Strategy::sorted), source) == 300);
  }
}

TEST_CASE("record loader: without --cutoff-len the longest record bounds a sample") {
  Files given(tokens);
  given.options.cutoff_len = 0;
  const SampleSource source(given.files, given.options, 5);
  CHECK(longest_sample(source) > 200);
  CHECK(longest_sample(source) < 2000);
  CHECK(check_epoch(given.loader(source), source) == 300);
}

TEST_CASE(
    "record loader: a file that is cut or replaced while it is used ends the run with code 3") {
  const Files given(conversation);
  const std::string path = given.options.data.front();
  CHECK_THAT(failure_after(given, [&] { std::filesystem::resize_file(path, 1000); }),
             Catch::StartsWith(path) && (Catch::Contains("changed while it was in use") ||
                                         Catch::Contains("it was cut since the start")));
  const Files replaced(conversation);
  const std::string other = replaced.folder.write("other.jsonl", conversation(1));
  const std::string target = replaced.options.data.front();
  CHECK_THAT(failure_after(replaced, [&] { std::filesystem::rename(other, target); }),
             Catch::StartsWith(target) && Catch::Contains("deleted or replaced"));
}

TEST_CASE("record loader: 64 open files are enough, and /dev/shm stays empty") {
  Files given(conversation);
  const SampleSource source(given.files, given.options, 5);
  LoaderSetup setup = given.loader(source);
  setup.workers = 8;
  const pid_t trainer = ::fork();
  if (trainer == 0) {
    const struct rlimit limit = {.rlim_cur = 64, .rlim_max = 64};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(2);
    DataProcesses processes({setup});
    Pipeline& pipeline = processes.pipeline(0);
    pipeline.start(epoch_start(setup));
    for (SlotKind kind = SlotKind::data; kind != SlotKind::end; pipeline.release())
      kind = pipeline.next(kPatience)->header.kind;
    for (const ProcessUse& use : processes.use()) {
      std::ifstream maps("/proc/" + std::to_string(use.process) + "/maps");
      for (std::string line; std::getline(maps, line);)
        if (line.find("/dev/shm/") != std::string::npos) ::_exit(3);
    }
    processes.stop();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(trainer, &status, 0) == trainer);
  CHECK(status == 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Sanitizers reserve more addresses than any limit permits.
TEST_CASE("record loader: a worker that reaches its memory limit is logged and replaced") {
  const FakeData data{.size = 100};
  LoaderSetup setup = fake_loader(data, small_options());
  class Hungry final : public ViewBuilder {
   public:
    explicit Hungry(std::unique_ptr<ViewBuilder> builder) : builder_(std::move(builder)) {
      const struct rlimit limit = {.rlim_cur = 1 << 30, .rlim_max = 1 << 30};
      ::setrlimit(RLIMIT_AS, &limit);
    }
    BuiltSample build(ViewId view, std::int64_t epoch, Sample& sample) override {
      if (view == 17) std::vector<char>(std::size_t{2} << 30).back() = 1;
      return builder_->build(view, epoch, sample);
    }
    std::string where(ViewId view, std::int64_t epoch) override {
      return builder_->where(view, epoch);
    }

   private:
    std::unique_ptr<ViewBuilder> builder_;
  };
  setup.builder = [inner = setup.builder] { return std::make_unique<Hungry>(inner()); };
  FakeData expected = data;
  expected.fates[17] = FakeData::Fate::out_of_memory;
  CHECK(run_epoch(setup, data) == pure_run(expected, setup.batching, 1).front());
}
#endif

}  // namespace odb
