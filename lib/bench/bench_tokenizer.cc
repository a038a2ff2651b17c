// bench tokenizer: throughput on a file's texts, on one core.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/options/command_line.h"
#include "base/process_memory.h"
#include "base/real_file_system.h"
#include "bench/benchmarks.h"
#include "data/json/json_texts.h"
#include "tokenizer/throughput.h"

namespace odb {

namespace {

struct BenchTokenizerOptions {
  std::optional<std::filesystem::path> tokenizer;
  std::optional<std::filesystem::path> data;
  int64_t rounds = 5;
  bool json = false;
};

void describe(OptionTable& table, BenchTokenizerOptions& options) {
  table.group("bench tokenizer");
  table.add("tokenizer", options.tokenizer).help("a tokenizer.json, or a folder that holds one");
  table.add("data", options.data)
      .help("JSON lines: strings, or records whose texts (content, text, value, ...) are taken");
  table.add("rounds", options.rounds)
      .at_least(1)
      .form("an odd integer", [](int64_t rounds) { return rounds % 2 == 1; })
      .help("rounds to measure; the median is reported");
  table.add_switch("json", options.json).help("print one JSON object");
  table.require({"tokenizer", "data"});
}

std::vector<std::string> read_texts(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw FileError("{}: cannot open the data: {}", path.string(), errno_text(errno));
  JsonLineReader reader;
  std::vector<std::string> texts;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string where = fmt::format("{}:{}", path.string(), ++number);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    for (std::string& text : reader.read_texts(line, where))
      texts.push_back(std::move(text));
  }
  if (texts.empty()) throw DataError("{}: no text in it", path.string());
  return texts;
}

// Private memory of this process, bytes.
std::int64_t written_memory() {
  RealFileSystem files;
  return static_cast<std::int64_t>(private_memory(files, ::getpid()).written);
}

}  // namespace

int bench_tokenizer(const Arguments& arguments) {
  BenchTokenizerOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{
      .name = "bench tokenizer",
      .summary =
          "Encodes every text of a file on one core, first with an empty word cache (cold), "
          "then again (warm).",
      .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;

  const std::int64_t memory_before = written_memory();
  const auto start = std::chrono::steady_clock::now();
  const Tokenizer tokenizer = Tokenizer::load(*options.tokenizer);
  const std::chrono::duration<double> load_time = std::chrono::steady_clock::now() - start;
  const std::int64_t memory = written_memory() - memory_before;

  const std::vector<std::string> texts = read_texts(*options.data);
  const TokenizerThroughput measured =
      measure_throughput(tokenizer, texts, static_cast<int>(options.rounds));
  const auto bytes = static_cast<double>(measured.bytes);
  const nlohmann::ordered_json result{{"bytes_per_second_cold", bytes / measured.cold_seconds},
                                      {"bytes_per_second_warm", bytes / measured.warm_seconds},
                                      {"texts", measured.texts},
                                      {"bytes", measured.bytes},
                                      {"tokens", measured.tokens},
                                      {"load_seconds", load_time.count()},
                                      {"private_memory_bytes", memory}};
  if (options.json) {
    fmt::print("{}\n", result.dump());
  } else {
    fmt::print("{:.1f} MB/s cold, {:.1f} MB/s warm; {} texts, {} bytes, {} tokens\n",
               bytes / measured.cold_seconds / 1e6, bytes / measured.warm_seconds / 1e6,
               measured.texts, measured.bytes, measured.tokens);
    fmt::print("tokenizer loaded in {:.0f} ms, {:.1f} MB of private memory\n",
               load_time.count() * 1e3, static_cast<double>(memory) / 1e6);
  }
  return 0;
}

}  // namespace odb
