// The model cases of the field through `train`: models that are whole begin with the loss that is
// listed, and what is saved of them loads again; others are refused before anything is written.
#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/real_file_system.h"
#include "case_rows.h"
#include "catch.h"
#include "model/files/safetensors.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;

const std::string kModels = kCases + "models/";

nlohmann::json reference() {
  RealFileSystem files;
  return nlohmann::json::parse(files.read_all(kModels + "reference.expected.json"));
}

// The model's folder. One that has no weights of its own uses those of base.
std::string folder_of(const TrainerRun& run, const std::string& name) {
  RealFileSystem files;
  if (files.list(kModels + name).size() > 1) return kModels + name;
  const std::string weights = files.read_all(kBaseModel + "/model.safetensors");
  (void)run.write("model/config.json", files.read_all(kModels + name + "/config.json"));
  return std::filesystem::path(run.write("model/model.safetensors", weights)).parent_path();
}

// The listed ids, once for each rank.
std::string listed_data(const TrainerRun& run) {
  const std::string row = nlohmann::json{{"input_ids", reference()["input_ids"]}}.dump() + "\n";
  return run.write("ids.jsonl", row + row);
}

double last_evaluation(const TrainerRun& run) {
  RealFileSystem files;
  const std::string text = files.read_all(run.paths().folder + "/evaluations.jsonl");
  const std::size_t before = text.rfind('\n', text.size() - 2);
  return nlohmann::json::parse(text.substr(before == std::string::npos ? 0 : before + 1))
      .at("loss");
}

std::vector<std::string> tensors_in(const std::string& path) {
  RealFileSystem files;
  std::vector<std::string> names;
  for (const TensorInfo& tensor : read_safetensors_header(files, path).tensors)
    names.push_back(tensor.name);
  return names;
}

std::int64_t naming(const std::vector<std::string>& names, const std::string& part) {
  return std::ranges::count_if(
      names, [&](const std::string& name) { return name.find(part) != std::string::npos; });
}

// A tied model is saved with its embedding alone, which has one state in the optimizer.
void check_heads(const std::string& checkpoint, bool tied) {
  const auto weights = tensors_in(checkpoint + "/model.safetensors");
  CHECK(naming(weights, "embed_tokens") == 1);
  CHECK(naming(weights, "lm_head") == (tied ? 0 : 1));
  const auto states = tensors_in(checkpoint + "/optimizer/state.safetensors");
  CHECK(naming(states, "embedding.") == 2);
  CHECK(naming(states, "head.") == (tied ? 0 : 2));
}

// Two epochs of the listed ids on two ranks: the first step's loss is the listed one, the second's
// is lower, and the checkpoint begins where the run's last evaluation ended.
void check_whole(const std::string& name, bool tied = false, const std::string& warning = "") {
  INFO(name);
  TrainerRun run, again;
  const std::string data = listed_data(run);
  run.launch(2, {"--model", folder_of(run, name), "--data", data, "--eval-data", data, "--lr",
                 "1e-2", "--warmup", "0", "--lr-schedule", "constant", "--epochs", "2"});
  const auto codes = run.await_end();
  INFO(run.all_lines());
  REQUIRE(codes == std::vector<int>{0});
  const auto losses = run.losses();
  REQUIRE(losses.size() == 2);
  const double expected = reference()[name]["nll"];
  CHECK(losses[0] == Approx(expected).margin(1e-4));
  CHECK(losses[1] < expected - 0.1);
  CHECK_THAT(run.all_lines(), Catch::Contains(warning));
  const std::string checkpoint = whole_checkpoint(run, 2);
  check_heads(checkpoint, tied);
  const double after = last_evaluation(run);
  CHECK(after < losses[1]);
  run_to_end(again, 1, {"--model", checkpoint, "--data", data, "--max-steps", "1"});
  CHECK(again.losses().front() == Approx(after).epsilon(1e-5));
}

// By every rank, before the run's folder is made.
void check_refused(const std::string& name, const std::vector<std::string>& parts) {
  INFO(name);
  TrainerRun run;
  run.launch(2, {"--model", folder_of(run, name), "--data", kCases + "raw/plain.jsonl"});
  CHECK(run.await_end() == std::vector<int>{4});
  INFO(run.all_lines());
  for (const std::string& part : parts)
    CHECK_THAT(run.all_lines(), Catch::Contains(part));
  CHECK_FALSE(std::filesystem::exists(run.paths().folder));
  run.await_nothing_left();
}

}  // namespace

TEST_CASE("Model cases that are whole train from the listed loss, and load again") {
  check_whole("base");
  check_whole("sharded");
}

TEST_CASE("Model cases with tied heads train, and are saved with the embedding alone") {
  check_whole("tied_no_head", true);
  check_whole("tied_stale_head", true, "lm_head.weight is not used");
}

TEST_CASE("Model cases whose rotary settings are moved or scaled train from the listed loss") {
  for (const std::string name :
       {"rope_v5", "rope_scaling_default", "rope_linear_old_key", "rope_yarn", "rope_yarn_v5"})
    check_whole(name);
}

TEST_CASE("Model cases whose files are not whole are refused by file") {
  check_refused("sharded_missing",
                {"model.safetensors.index.json", "model-00002-of-00002.safetensors", "not found"});
  check_refused("truncated", {"truncated/model.safetensors", "is cut"});
  check_refused("truncated_header", {"truncated_header/model.safetensors", "is cut"});
  check_refused("zero_byte", {"zero_byte/model.safetensors", "found 0 bytes"});
  check_refused("trailing_bytes", {"trailing_bytes/model.safetensors", "64 bytes after"});
}

TEST_CASE("Model cases that do not fit their configuration are refused by tensor or key") {
  check_refused("untied_missing_head", {"untied_missing_head", "lm_head.weight", "missing"});
  check_refused("head_dim_absent", {"q_proj.weight", "found shape [64, 32]", "expects [512, 32]"});
  check_refused("rope_unknown", {"config.json", "rope_type", "\"spiral\""});
}

TEST_CASE("A sample beyond the model's positions is warned of") {
  const auto row_of = [](std::size_t tokens) {
    return nlohmann::json{{"input_ids", std::vector<int>(tokens, 7)}}.dump() + "\n";
  };
  TrainerRun run, shorter;
  run_to_end(run, 1,
             {"--model", kModels + "base", "--data",
              run.write("ids.jsonl", row_of(3) + row_of(257)), "--max-steps", "1"});
  CHECK_THAT(run.all_lines(), Catch::Contains("ids.jsonl:2: the sample has 257 tokens") &&
                                  Catch::Contains("256 positions") &&
                                  Catch::Contains("--cutoff-len 256"));
  run_to_end(shorter, 1,
             {"--model", kModels + "base", "--data", shorter.write("ids.jsonl", row_of(256)),
              "--max-steps", "1"});
  CHECK_THAT(shorter.all_lines(), !Catch::Contains("max_position_embeddings"));
}

TEST_CASE("A model of zeros learns nothing, and that is reported once") {
  TrainerRun run;
  RealFileSystem files;
  std::string weights = files.read_all(kBaseModel + "/model.safetensors");
  const auto begin =
      read_safetensors_header(files, kBaseModel + "/model.safetensors").tensors[0].begin;
  std::fill(weights.begin() + static_cast<std::ptrdiff_t>(begin), weights.end(), '\0');
  (void)run.write("model/model.safetensors", weights);
  const std::string config = files.read_all(kBaseModel + "/config.json");
  const std::string model =
      std::filesystem::path(run.write("model/config.json", config)).parent_path();
  run_to_end(run, 1, {"--model", model, "--data", listed_data(run), "--max-steps", "30"});
  const std::string warning = "step 20: the gradient's norm has been 0 for 20 steps";
  const std::string lines = run.all_lines();
  const std::size_t first = lines.find(warning);
  REQUIRE(first != std::string::npos);
  CHECK(lines.find("the gradient's norm has been 0", first + warning.size()) == std::string::npos);
}
