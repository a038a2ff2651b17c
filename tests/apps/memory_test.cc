// Compares the estimate of `inspect model` with the peak that training reports in its summary: a
// small model through the binary, with rows of many lengths. docs/model.md has larger models.
#include <string>

#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "catch.h"
#include "run_trainer.h"
#include "temporary_folder.h"
#include "texts.h"

using namespace odb;
using nlohmann::json;

namespace {

// 3.2 million parameters; the peak comes from activations and logits.
const json kConfig = {
    {"model_type", "qwen3"},    {"vocab_size", 8256},     {"hidden_size", 192},
    {"intermediate_size", 512}, {"num_hidden_layers", 4}, {"num_attention_heads", 6},
    {"num_key_value_heads", 2}, {"head_dim", 32},         {"tie_word_embeddings", true}};

std::string texts() {
  Rng rng(1, RandomPurpose::tests);
  std::string lines;
  for (int row = 0; row < 400; ++row) {
    std::string text;
    for (std::uint64_t letters = 20 + rng.below(900); letters > 0; --letters)
      text += static_cast<char>('a' + rng.below(26));
    lines += json{{"text", text}}.dump() + "\n";
  }
  return lines;
}

// Estimate / peak.
double ratio(const std::string& options) {
  const TemporaryFolder folder;
  folder.write("model/config.json", kConfig.dump());
  const std::string model = " --model '" + folder / "model" + "' --init random " + options;
  const Outcome inspected = odb_trainer("inspect model --json" + model);
  INFO(inspected.errors);
  REQUIRE(inspected.code == 0);
  const Outcome trained = odb_trainer(
      "train --device cpu --console off --data-workers 1 --batching packing --max-steps 12 "
      "--cutoff-len 2048 --tokenizer '" ODB_TESTS_FOLDER "/cases/tokenizer/merges_pairs' --data '" +
      folder.write("texts.jsonl", texts()) + "' --output '" + folder / "run" + "'" + model);
  INFO(trained.errors);
  REQUIRE(trained.code == 0);
  const json summary = json::parse(content_of(folder / "run/summary.json"));
  const double peak = summary["peak_memory_gb"].get<double>() * 1e9;
  return json::parse(inspected.output)["memory_bytes"]["total"].get<double>() / peak;
}

}  // namespace

TEST_CASE("the estimate of memory is near the peak of a training") {
  const std::string options = GENERATE("--l-max 4096", "--l-max 4096 --dtype bf16",
                                       "--l-max 4096 --recompute block", "--l-max 2048");
  const double found = ratio(options);
  INFO(options << ": estimate / peak " << found);
  CHECK(found > 0.8);
  CHECK(found < 1.5);
}
