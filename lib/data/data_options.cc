#include "data/data_options.h"

namespace odb {

void describe(OptionTable& table, DataOptions& options) {
  table.group("data");
  table.add("data", options.data)
      .help(
          "data file: JSON Lines or a JSON array, also .gz or .zst; PATH:WEIGHT gives that many "
          "times its rows per epoch");
  table
      .add("on-bad-sample", options.on_bad_sample,
           {{"fail", OnBadSample::fail}, {"skip", OnBadSample::skip}})
      .help("what a broken record does: end the run, or be left out and counted");
  table.add("cache-dir", options.cache_dir)
      .help(
          "folder for indexes and decompressed copies; empty: .odb-cache beside the data, or "
          "~/.cache/odb-trainer where that cannot be written");
  describe_sample_making(table, options);
}

void describe_sample_making(OptionTable& table, DataOptions& options) {
  table.group("data");
  table.add("tokenizer", options.tokenizer).help("folder with tokenizer.json");
  table.add("data-format", options.data_format)
      .choices({"auto", "messages", "sharegpt", "alpaca", "prompt-completion", "text", "tokens"})
      .help("how records are written; auto tells each by its columns");
  table.add("column", options.column)
      .help("STANDARD=NAME: the data calls the column STANDARD (messages, role, text, ...) NAME");
  table.add("chat-template", options.chat_template)
      .choices(
          {"auto", "qwen3", "qwen3-instruct", "qwen2.5", "chatml", "llama3", "llama3.1", "plain"})
      .help("how talks are written; auto recognises the tokenizer's own template");
  table.add("cutoff-len", options.cutoff_len)
      .unit("tokens")
      .at_least(0)
      .help("longer samples are cut, keeping the head; 0 never cuts");
  table
      .add("train-on", options.train_on,
           {{"answers", TrainOn::answers},
            {"last-answer", TrainOn::last_answer},
            {"all", TrainOn::all}})
      .help("which tokens are supervised");
  table.add_switch("parse-special-in-text", options.parse_special_in_text)
      .help("let control tokens in a text count as such, not as plain text");
}

}  // namespace odb
