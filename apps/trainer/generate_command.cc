// generate: what a model writes after a prompt, token by token.
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/core.h>

#include "base/error.h"
#include "base/log.h"
#include "base/options/choices.h"
#include "base/options/command_line.h"
#include "base/real_file_system.h"
#include "commands.h"
#include "data/sample/prompt.h"
#include "model/files/model_folder.h"
#include "model/generate.h"
#include "model/language_model.h"
#include "model/weights_io.h"

namespace odb {
namespace {

struct GenerateCommandOptions {
  ModelOptions model;
  std::string tokenizer;
  std::string chat_template = "auto";
  std::string prompt;
  std::string system;
  bool raw = false;
  std::int64_t max_new_tokens = 128;
};

void describe(OptionTable& table, GenerateCommandOptions& options) {
  table.group("generate");
  table.add("model", options.model.model)
      .help("folder with config.json, weights and tokenizer.json");
  table.add("dtype", options.model.dtype, named({ComputeType::fp32, ComputeType::bf16}))
      .help("type of activations and products");
  table.add("tokenizer", options.tokenizer).help("folder with tokenizer.json; empty: the model's");
  table.add("chat-template", options.chat_template)
      .help("template of the conversation; auto recognizes the tokenizer's own");
  table.add("prompt", options.prompt).help("the user's message");
  table.add("system", options.system).help("a system message before it; empty: none");
  table.add_switch("raw", options.raw).help("continue the prompt as it is, without a template");
  table.add("max-new-tokens", options.max_new_tokens)
      .unit("tokens")
      .at_least(1)
      .help("stop after this many, if no end token came before");
  table.require({"model", "prompt"});
}

// Prints the complete part of the text: a character may span several tokens.
class TextPrinter {
 public:
  explicit TextPrinter(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void add(std::int64_t token) {
    tokens_.push_back(static_cast<TokenId>(token));
    const std::string text = tokenizer_.decode(tokens_, /*with_control_tokens=*/false);
    if (text.ends_with("\uFFFD")) return;
    print_from(text);
  }
  void finish() { print_from(tokenizer_.decode(tokens_, false)); }

 private:
  void print_from(const std::string& text) {
    fmt::print("{}", text.substr(std::min(printed_, text.size())));
    if (std::fflush(stdout) != 0)  // as fmt::print: nobody reads the rest, or it cannot be written
      throw std::system_error(errno, std::generic_category(), "standard output");
    printed_ = text.size();
  }

  const Tokenizer& tokenizer_;
  std::vector<TokenId> tokens_;
  std::size_t printed_ = 0;
};

}  // namespace

int generate_command(const Arguments& arguments) {
  GenerateCommandOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{
      .name = "generate",
      .summary =
          "Prints what the model answers to a prompt, with the most likely "
          "token each time, and ends where transformers would: at eos_token_id "
          "of the model's files. Recomputes the whole row for each token: to "
          "try a model, not to serve it.",
      .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;

  RealFileSystem files;
  const ModelConfig config = read_model_config(files, options.model.model);
  DataOptions data;
  data.tokenizer = options.tokenizer.empty() ? tokenizer_of_model(files, options.model.model)
                                             : options.tokenizer;
  data.chat_template = options.raw ? "plain" : options.chat_template;
  const Preprocessor preprocessor(files, data);
  preprocessor.log_choices();
  const std::vector<TokenId> ids =
      options.raw ? raw_prompt(preprocessor, options.prompt)
                  : chat_prompt(preprocessor, {.system = options.system, .user = options.prompt});
  const std::vector<std::int64_t> end_tokens = read_end_tokens(files, options.model.model, config);
  if (end_tokens.empty())
    log("model").warn(
        "{} names no eos_token_id, in generation_config.json or config.json: answers end after "
        "--max-new-tokens",
        options.model.model);
  const std::vector<std::int64_t> prompt(ids.begin(), ids.end());
  for (const std::int64_t id : prompt)
    if (id >= config.vocabulary_size)
      throw DataError(
          "the prompt has token {}, the model's vocabulary ends at {}; expected the model's own "
          "tokenizer",
          id, config.vocabulary_size);

  LanguageModel model(config, {.dtype = options.model.dtype});
  load_weights(files, options.model.model, model);
  TextPrinter printer(preprocessor.tokenizer());
  const auto is_known = [&](std::int64_t token) {
    return token < static_cast<std::int64_t>(preprocessor.tokenizer().size());
  };
  generate_greedily(model, prompt,
                    {.max_new_tokens = options.max_new_tokens,
                     .end_tokens = end_tokens,
                     .on_token = [&](std::int64_t token) {
                       if (is_known(token)) printer.add(token);
                     }});
  printer.finish();
  fmt::print("\n");
  return 0;
}

}  // namespace odb
