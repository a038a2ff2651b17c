#include "data/data_options.h"

namespace odb {

void describe(OptionTable& table, DataOptions& options) {
  table.group("data");
  table.add("data", options.data)
      .help(
          "data file: JSON Lines or a JSON array, also .gz or .zst; PATH:WEIGHT uses WEIGHT times "
          "its rows per epoch");
  table
      .add("on-bad-sample", options.on_bad_sample,
           {{"fail", OnBadSample::fail}, {"skip", OnBadSample::skip}})
      .help("on a broken record: end the run, or skip and count it");
  table.add("cache-dir", options.cache_dir)
      .help(
          "folder for indexes and decompressed copies; empty: .odb-cache next to the data, "
          "or odb-trainer in $XDG_CACHE_HOME or ~/.cache if that is not writable");
  describe_preprocessing(table, options);
}

void describe_preprocessing(OptionTable& table, DataOptions& options) {
  table.group("data");
  table.add("tokenizer", options.tokenizer).help("folder with tokenizer.json");
  table.add("data-format", options.data_format)
      .choices({"auto", "messages", "sharegpt", "alpaca", "prompt-completion", "text", "tokens"})
      .help("format of the records; auto detects it by their columns");
  table.add("column", options.column)
      .help("STANDARD=NAME: read column STANDARD (messages, role, text, ...) from column NAME");
  table.add("chat-template", options.chat_template)
      .choices(
          {"auto", "qwen3", "qwen3-instruct", "qwen2.5", "chatml", "llama3", "llama3.1", "plain"})
      .help("chat template; auto recognizes the tokenizer's own template");
  table.add("cutoff-len", options.cutoff_len)
      .unit("tokens")
      .at_least(0)
      .help("cut longer samples, keeping the head; 0: never cut");
  table
      .add("train-on", options.train_on,
           {{"answers", TrainOn::answers},
            {"last-answer", TrainOn::last_answer},
            {"all", TrainOn::all}})
      .help("which tokens are supervised");
  table.add_switch("parse-special-in-text", options.parse_special_in_text)
      .help("parse special tokens in texts instead of treating them as plain text");
}

}  // namespace odb
