// tokenize: converts standard input to standard output, line by line: a JSON string to its ids, ids
// to their text, or a record to its sample.
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/options/command_line.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "commands.h"
#include "data/json/json_texts.h"
#include "data/sample/sample_source.h"
#include "tokenizer/encoder.h"
#include "tokenizer/tokenizer.h"

namespace odb {

namespace {

struct TokenizeOptions {
  DataOptions data;
  bool decode = false;
  bool samples = false;
};

void describe(OptionTable& table, TokenizeOptions& options) {
  table.group("tokenize");
  table.add_switch("decode", options.decode).help("read arrays of ids and write texts");
  table.add_switch("samples", options.samples)
      .help("read records and write their samples, as training makes them with the options below");
  describe_preprocessing(table, options.data);
  table.validate([&options] {
    if (options.decode && options.samples)
      throw UsageError("--decode and --samples exclude each other");
  });
  table.require({"tokenizer"});
}

// The next line of standard input; the first without a byte order mark.
bool read_line(std::string& line, std::size_t& number) {
  if (!std::getline(std::cin, line)) return false;
  if (++number == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  return true;
}

// Runs `action` and puts the place in front of a DataError's message.
template <typename Action>
auto at(const std::string& where, const Action& action) {
  try {
    return action();
  } catch (const DataError& error) {
    throw DataError("{}: {}", where, error.what());
  }
}

// {"input_ids": [...], "labels": [...]} or {"left_out": "..."} for each record.
void print_samples(const DataOptions& options) {
  RealFileSystem files;
  const Preprocessor preprocessor(files, options);
  preprocessor.log_choices();
  const auto builder = preprocessor.builder();
  RecordBuffer record;
  Sample sample;
  std::size_t number = 0;
  for (std::string line; read_line(line, number);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::copy(line.begin(), line.end(), record.resize(line.size()).begin());
    const LeftOutReason left_out = at(fmt::format("standard input:{}", number),
                                      [&] { return builder->build(record, sample); });
    if (left_out == LeftOutReason::none)
      fmt::print("{{\"input_ids\":[{}],\"labels\":[{}]}}\n", fmt::join(sample.tokens, ","),
                 fmt::join(sample.labels, ","));
    else
      fmt::print("{{\"left_out\":\"{}\"}}\n", name(left_out));
  }
}

}  // namespace

int tokenize_command(const Arguments& arguments) {
  TokenizeOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{
      .name = "tokenize",
      .summary =
          "Reads one JSON string per line from standard input and writes one JSON array of token "
          "ids per line to standard output; --decode does the reverse. With --samples it reads one "
          "record per line and writes {\"input_ids\", \"labels\"}. Blank lines are skipped.",
      .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;

  std::ios::sync_with_stdio(false);
  if (options.samples) {
    print_samples(options.data);
    return 0;
  }
  RealFileSystem files;
  const Tokenizer tokenizer = Tokenizer::load(tokenizer_file(files, options.data.tokenizer));
  Encoder encoder(tokenizer, {.parse_special_in_text = options.data.parse_special_in_text});
  JsonLineReader reader;
  std::size_t number = 0;
  for (std::string line; read_line(line, number);) {
    const std::string where = fmt::format("standard input:{}", number);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (options.decode) {
      const std::vector<TokenId> ids = reader.read_ids(line, where);
      fmt::print("{}\n", at(where, [&] { return json_of_text(tokenizer.decode(ids)); }));
    } else {
      const std::string text = reader.read_text(line, where);
      fmt::print("[{}]\n", fmt::join(at(where, [&] { return encoder.encode(text); }), ","));
    }
  }
  return 0;
}

}  // namespace odb
