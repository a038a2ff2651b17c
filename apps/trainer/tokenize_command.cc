// tokenize: standard input to standard output, a line each: a JSON string to its ids, or ids to
// their text.
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/options/command_line.h"
#include "commands.h"
#include "data/tokenizer/encoder.h"
#include "data/tokenizer/json_texts.h"
#include "data/tokenizer/tokenizer.h"

namespace odb {

namespace {

struct TokenizeOptions {
  std::optional<std::filesystem::path> tokenizer;
  bool decode = false;
  bool parse_special_in_text = false;
};

void describe(OptionTable& table, TokenizeOptions& options) {
  table.group("tokenize");
  table.add("tokenizer", options.tokenizer)
      .required()
      .help("a tokenizer.json, or a folder that holds one");
  table.add_switch("decode", options.decode).help("read arrays of ids and write texts");
  table.add_switch("parse-special-in-text", options.parse_special_in_text)
      .help("let control tokens in a text count as such, not as plain text");
}

// Runs `action`; a DataError out of it gets the place in front.
template <typename Action>
auto at(const std::string& where, const Action& action) {
  try {
    return action();
  } catch (const DataError& error) {
    throw DataError("{}: {}", where, error.what());
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
          "Reads one JSON string per line from standard input and writes one JSON array of "
          "token ids per line to standard output; with --decode the other way round. Blank "
          "lines are passed over.",
      .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;

  const Tokenizer tokenizer = Tokenizer::load(*options.tokenizer);
  Encoder encoder(tokenizer, {.parse_special_in_text = options.parse_special_in_text});
  JsonLineReader reader;
  std::ios::sync_with_stdio(false);
  std::size_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string where = fmt::format("standard input:{}", ++number);
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
