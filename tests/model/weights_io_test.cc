// Load, save, load: every tensor keeps its bytes, in one file and in shards.
#include "model/weights_io.h"

#include "base/error.h"
#include "catch.h"
#include "golden_models.h"
#include "model/files/weight_names.h"
#include "model/init.h"
#include "temporary_folder.h"

using namespace odb;
using torch::Tensor;

namespace {

// Name -> bytes of every tensor of a folder.
std::map<std::string, std::string> tensor_bytes(const std::string& folder) {
  RealFileSystem files;
  std::map<std::string, std::string> bytes;
  for (const auto& [name, tensor] : open_stored_weights(files, folder))
    bytes[name] = files.read_all(tensor.path).substr(tensor.info.begin, tensor.info.bytes());
  return bytes;
}

void save_copy(const std::string& from, const std::string& to, const SaveOptions& options) {
  RealFileSystem files;
  const LanguageModel model = load_model(from);
  save_model(files, to, model.config(), model.weights(), options);
}

}  // namespace

TEST_CASE("fp32 and bf16 weights are saved as they were loaded") {
  const TemporaryFolder folder;
  for (const std::string name : {"qwen3_tied", "qwen3_untied", "qwen2", "llama_biases"}) {
    INFO(name);
    save_copy(kGoldenModels + name, folder / name, {});
    CHECK(tensor_bytes(folder / name) == tensor_bytes(kGoldenModels + name));
  }
  save_copy(kCaseModels + "base", folder / "narrow", {.type = TensorType::bf16});
  CHECK(tensor_bytes(folder / "narrow") == tensor_bytes(kCaseModels + "base"));
}

TEST_CASE("A tied model holds its embedding once") {
  const TemporaryFolder folder;
  save_copy(kCaseModels + "tied_stale_head", folder / "tied", {.type = TensorType::bf16});
  CHECK_FALSE(tensor_bytes(folder / "tied").contains("lm_head.weight"));
  CHECK(tensor_bytes(folder / "tied") == tensor_bytes(kCaseModels + "tied_no_head"));
}

TEST_CASE("Shards of any size hold the same tensors") {
  const TemporaryFolder folder;
  RealFileSystem files;
  for (const std::int64_t size : {1, 3000, 20000}) {
    const std::string to = folder / std::to_string(size);
    save_copy(kGoldenModels + "qwen3_untied", to, {.max_shard_bytes = size});
    CHECK(tensor_bytes(to) == tensor_bytes(kGoldenModels + "qwen3_untied"));
    CHECK(files.exists(to + "/model.safetensors.index.json"));
    CHECK_FALSE(files.exists(to + "/model.safetensors"));
  }
  CHECK(files.exists(folder / "20000/model-00001-of-00004.safetensors"));
}

TEST_CASE("fp16 weights are read, and written to its precision") {
  const TemporaryFolder folder;
  save_copy(kGoldenModels + "qwen2", folder / "half", {.type = TensorType::f16});
  const LanguageModel whole = load_model(kGoldenModels + "qwen2");
  const LanguageModel half = load_model(folder / "half");
  for (const auto& [name, weight] : whole.weights()) {
    INFO(name);
    CHECK(torch::equal(weight.to(torch::kHalf).to(torch::kFloat), half.weights().at(name)));
  }
}

TEST_CASE("The saved configuration has the new type and keeps the rest") {
  const TemporaryFolder folder;
  RealFileSystem files;
  save_copy(kGoldenModels + "qwen2", folder / "saved", {.type = TensorType::bf16});
  const ModelConfig saved = read_model_config(files, folder / "saved");
  CHECK_THAT(saved.json, Catch::Contains("\"dtype\": \"bfloat16\""));
  CHECK(saved.rope.theta == 10000);
  CHECK(saved.qkv_bias);
}

TEST_CASE("Values that are not finite are reported by tensor, as its files name it") {
  RealFileSystem files;
  LanguageModel model(read_model_config(files, kCaseModels + "base"), {});
  load_weights(files, kCaseModels + "base", model);
  CHECK_NOTHROW(require_finite(model, "folder"));
  const torch::NoGradGuard no_gradients;
  // Finite, though their sum is not.
  const Tensor norm = model.weights().at("blocks.1.attention_norm");
  norm.fill_(3e38);
  CHECK_NOTHROW(require_finite(model, "folder"));
  norm[3] = -INFINITY;
  norm[4] = NAN;
  CHECK_THROWS_WITH(require_finite(model, "folder"),
                    Catch::Contains("folder: tensor model.layers.1.input_layernorm.weight: found 2 "
                                    "of 32 values that are not finite"));
}

TEST_CASE("Random weights depend on the seed alone") {
  RealFileSystem files;
  const ModelConfig config = read_model_config(files, kGoldenModels + "qwen3_untied");
  LanguageModel one(config, {}), same(config, {}), other(config, {});
  initialize_weights(one, 5);
  at::set_num_threads(2);
  initialize_weights(same, 5);
  at::set_num_threads(1);
  initialize_weights(other, 6);
  for (const auto& [name, weight] : one.weights()) {
    INFO(name);
    CHECK(torch::equal(weight, same.weights().at(name)));
    const bool is_norm = name.find("norm") != std::string::npos;
    CHECK(torch::equal(weight, other.weights().at(name)) == is_norm);
  }
  const Tensor& embedding = one.weights().at("embedding");
  CHECK(embedding.std().item<double>() == Approx(config.initializer_range).epsilon(0.1));
  CHECK(embedding.mean().item<double>() == Approx(0).margin(0.03));
}
