// Indexing from the page cache, and opening a large index. The files lie below TMPDIR (0.7 GB) and
// are removed at the end.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/real_file_system.h"
#include "data/records/index_builder.h"
#include "data/records/index_writer.h"

namespace {

using namespace odb;

constexpr std::int64_t kDataBytes = 256 << 20;
constexpr std::uint64_t kManyRows = 100'000'000;

class Folder {
 public:
  Folder()
      : path_((std::filesystem::temp_directory_path() / fmt::format("odb-bench-{}", ::getpid()))
                  .string()) {
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Rows of `row_bytes`, as lines or as one array.
std::string make_data(const Folder& folder, std::int64_t row_bytes, bool array) {
  const std::string path = folder / (array ? "data.json" : "data.jsonl");
  std::ofstream file(path, std::ios::binary);
  const std::string row =
      "{\"text\": \"" + std::string(static_cast<std::size_t>(row_bytes) - 14, 'x') + "\"}";
  if (array) file << '[';
  for (std::int64_t bytes = 0; bytes < kDataBytes; bytes += row_bytes)
    file << (array && bytes > 0 ? "," : "") << row << '\n';
  if (array) file << ']';
  return path;
}

void index_data(benchmark::State& state, bool array) {
  const Folder folder;
  RealFileSystem files;
  const DataFile file(make_data(folder, state.range(0), array));
  for (auto _ : state)
    build_index(files, file, folder / "index", {.threads = static_cast<int>(state.range(1))});
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * file.size()));
}

void index_lines(benchmark::State& state) {
  index_data(state, false);
}
void index_array(benchmark::State& state) {
  index_data(state, true);
}
BENCHMARK(index_lines)
    ->ArgsProduct({{100, 2500}, {1, 2}})
    ->ArgNames({"row_bytes", "threads"})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(index_array)
    ->ArgsProduct({{2500}, {1}})
    ->ArgNames({"row_bytes", "threads"})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// Opened, and one row looked up near the end.
void open_index_of_100_million_rows(benchmark::State& state) {
  const Folder folder;
  RealFileSystem files;
  {
    IndexWriter writer(files, folder / "index", 4);
    for (std::uint64_t row = 0; row < kManyRows; ++row)
      if (!writer.add(row * 1000, row + 1)) state.SkipWithError("distances do not fit");
    writer.commit({.data_end = kManyRows * 1000});
  }
  for (auto _ : state) {
    const std::optional<LineIndex> index = LineIndex::open(folder / "index");
    benchmark::DoNotOptimize(index->row(kManyRows - 7).begin);
  }
}
BENCHMARK(open_index_of_100_million_rows)->Unit(benchmark::kMicrosecond);

}  // namespace
