#include "model/files/stored_weights.h"

#include "base/error.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "model/files/weight_names.h"
#include "model/model_report.h"
#include "model/test_models.h"
#include "temporary_folder.h"

using namespace odb;

namespace {

// A file with one fp32 value for each name.
std::string file_of(const std::vector<std::string>& names) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < names.size(); ++i)
    header[names[i]] = {{"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {4 * i, 4 * i + 4}}};
  return safetensors_bytes(header.dump(), 4 * names.size());
}

std::string index_of(const std::vector<std::pair<std::string, std::string>>& places) {
  nlohmann::ordered_json map = nlohmann::ordered_json::object();
  for (const auto& [tensor, file] : places)
    map[tensor] = file;
  return nlohmann::ordered_json{{"metadata", {{"total_size", 8}}}, {"weight_map", map}}.dump();
}

void check_refused(const TemporaryFolder& folder, const std::vector<std::string>& parts) {
  RealFileSystem files;
  try {
    open_stored_weights(files, folder.path());
    FAIL_CHECK("was not refused: " << parts.front());
  } catch (const FileError& error) {
    for (const std::string& part : parts)
      CHECK_THAT(error.what(), Catch::Contains(part));
  }
}

constexpr const char* kIndex = "model.safetensors.index.json";

}  // namespace

TEST_CASE("Shards are found by their index, and a single file comes first") {
  const TemporaryFolder folder;
  RealFileSystem files;
  folder.write("one.safetensors", file_of({"a"}));
  folder.write("two.safetensors", file_of({"b", "c"}));
  folder.write(
      kIndex,
      index_of({{"a", "one.safetensors"}, {"b", "two.safetensors"}, {"c", "two.safetensors"}}));
  const StoredWeights sharded = open_stored_weights(files, folder.path());
  CHECK(sharded.size() == 3);
  CHECK(sharded.at("c").path == folder / "two.safetensors");
  folder.write("model.safetensors", file_of({"a", "b", "c"}));
  CHECK(open_stored_weights(files, folder.path()).at("c").path == folder / "model.safetensors");
}

TEST_CASE("A single file beside the index of another model is refused") {
  const TemporaryFolder folder;
  folder.write("one.safetensors", file_of({"a", "b"}));
  folder.write(kIndex, index_of({{"a", "one.safetensors"}, {"b", "one.safetensors"}}));
  folder.write("model.safetensors", file_of({"a"}));
  check_refused(folder, {"different models", "tensor b is only in", kIndex, "model.safetensors"});
  folder.write("model.safetensors", file_of({"a", "b", "d"}));
  check_refused(folder, {"different models", "tensor d is only in " + folder.path()});
}

TEST_CASE("A prefix that all names have is left out, with a notice") {
  const ModelConfig config = parse(tiny_config());
  RealFileSystem files;
  for (const std::string prefix : {"_orig_mod.", "module.", "module._orig_mod."}) {
    INFO(prefix);
    const TemporaryFolder folder;
    std::vector<std::string> names;
    for (const PublishedWeight& weight : published_weights(config))
      names.push_back(prefix + weight.name);
    folder.write("model.safetensors", file_of(names));
    const StoredWeights stored = open_stored_weights(files, folder.path());
    CHECK(stored.at("model.norm.weight").info.name == prefix + "model.norm.weight");
    const WeightCheck check = check_weights(config, stored);
    REQUIRE(check.warnings.size() == 1);
    CHECK_THAT(check.warnings[0],
               Catch::Contains("begin with '" + prefix + "', which is left out"));
    names.push_back("extra");  // not all have it
    folder.write("model.safetensors", file_of(names));
    CHECK(open_stored_weights(files, folder.path()).contains(prefix + "model.norm.weight"));
  }
}

TEST_CASE("When no name fits, the message shows the names in the file") {
  const ModelConfig config = parse(tiny_config());
  RealFileSystem files;
  const TemporaryFolder folder;
  folder.write("model.safetensors", file_of({"transformer.wte.weight", "transformer.h.0.ln.bias"}));
  const WeightCheck check = check_weights(config, open_stored_weights(files, folder.path()));
  CHECK(check.problems.front() ==
        "25 of the 25 tensors that config.json describes are missing; found 2 others: "
        "transformer.h.0.ln.bias, transformer.wte.weight");
  CHECK_THROWS_WITH(require_weights(check, "folder"), Catch::Contains("transformer.wte.weight"));
}

TEST_CASE("An index that does not fit its folder is refused by name") {
  const TemporaryFolder folder;
  check_refused(folder, {"found neither model.safetensors nor model.safetensors.index.json"});
  folder.write("one.safetensors", file_of({"a", "b"}));
  folder.write(kIndex, index_of({{"a", "one.safetensors"}, {"b", "gone.safetensors"}}));
  check_refused(folder, {kIndex, "gone.safetensors", "not found"});
  folder.write("two.safetensors", file_of({"c"}));
  folder.write(kIndex, index_of({{"a", "two.safetensors"}, {"b", "one.safetensors"}}));
  check_refused(folder, {"tensor a was not found in two.safetensors"});
  folder.write(kIndex, index_of({{"a", "one.safetensors"}}));
  check_refused(folder, {"one.safetensors: tensor b is not in", kIndex});
  folder.write("two.safetensors", file_of({"b"}));
  folder.write(kIndex, index_of({{"a", "one.safetensors"}, {"b", "two.safetensors"}}));
  check_refused(folder, {"tensor b is in both"});
}

TEST_CASE("An index cannot lead out of its folder") {
  for (const std::string file : {"../a.safetensors", "/etc/a.safetensors", "x/a.safetensors", "..",
                                 "", ".a.safetensors", "a.bin", "a\\b.safetensors"}) {
    INFO(file);
    CHECK_THROWS_AS(parse_weight_index(index_of({{"a", file}}), "index"), FileError);
  }
  CHECK_THROWS_AS(parse_weight_index("{}", "index"), FileError);
  CHECK_THROWS_AS(parse_weight_index(R"({"weight_map": {}})", "index"), FileError);
  CHECK_THROWS_AS(parse_weight_index(R"({"weight_map": {"a": 1}})", "index"), FileError);
}

TEST_CASE("Every published weight is a range of rows of one parameter") {
  const ModelConfig config = parse(tiny_config());
  const std::vector<PublishedWeight> weights = published_weights(config);
  CHECK(weights.size() == 3 + 2 * 11);
  CHECK(weights[1].name == "model.layers.0.input_layernorm.weight");
  CHECK(weights[3].name == "model.layers.0.self_attn.k_proj.weight");
  CHECK(weights[3].parameter == "blocks.0.qkv");
  CHECK(weights[3].first_row == 16);
  CHECK(weights[4].first_row == 24);
  CHECK(weights.back().name == "lm_head.weight");
  const std::vector<ParameterShape> shapes = parameter_shapes(config);
  CHECK(shapes.size() == 3 + 2 * 8);
  CHECK(shapes[2].name == "blocks.0.qkv");
  CHECK(shapes[2].shape == TensorShape{32, 8});
  CHECK(shapes[7].name == "blocks.0.gate_up");
  CHECK(shapes[7].shape == TensorShape{24, 8});
  // 2 x 20 x 8, two blocks of 8 + 32 x 8 + 2 x 4 + 8 x 16 + 8 + 24 x 8 + 8 x 12, 8
  CHECK(parameter_count(config) == 320 + 2 * 696 + 8);
}

TEST_CASE("Missing, left over and misshapen tensors are all reported") {
  const ModelConfig config = parse(tiny_config());
  StoredWeights stored;
  for (const PublishedWeight& weight : published_weights(config))
    stored[weight.name] = {"f",
                           {.name = weight.name, .type = TensorType::bf16, .shape = weight.shape}};
  CHECK(check_weights(config, stored).problems.empty());
  stored["model.layers.0.self_attn.rotary_emb.inv_freq"] = {"f", {}};
  CHECK(check_weights(config, stored).problems.empty());
  stored["model.layers.7.extra"] = {"f", {}};
  stored.erase("model.norm.weight");
  stored["lm_head.weight"].info.shape = {20, 9};
  stored["model.embed_tokens.weight"].info.type = TensorType::i8;
  const WeightCheck check = check_weights(config, stored);
  CHECK(check.problems ==
        std::vector<std::string>{
            "f: tensor model.embed_tokens.weight: found I8, expected F32, BF16 or F16",
            "tensor model.norm.weight [8] is missing",
            "f: tensor lm_head.weight: found shape [20, 9], config.json expects [20, 8]",
            "f: tensor model.layers.7.extra is not part of the model that config.json describes"});
  try {
    require_weights(check, "folder");
    FAIL("was not refused");
  } catch (const FileError& error) {
    for (const std::string& problem : check.problems)
      CHECK_THAT(error.what(), Catch::Contains(problem));
  }
}

TEST_CASE("The stored type is that of the weights, whatever other tensors exist") {
  ModelConfig config = parse(tiny_config());
  StoredWeights stored;
  for (const PublishedWeight& weight : published_weights(config))
    stored[weight.name] = {"f",
                           {.name = weight.name, .type = TensorType::bf16, .shape = weight.shape}};
  CHECK(type_of_weights(config, stored) == TensorType::bf16);
  stored["model.layers.0.self_attn.rotary_emb.inv_freq"] = {"f", {.type = TensorType::f32}};
  CHECK(type_of_weights(config, stored) == TensorType::bf16);
  stored["lm_head.weight"].info.type = TensorType::f16;
  CHECK(type_of_weights(config, stored) == TensorType::f32);
  config.tied_embeddings = true;  // the head is not used
  CHECK(type_of_weights(config, stored) == TensorType::bf16);
}

TEST_CASE("Of many problems the first ten are reported, and the number of the others") {
  std::vector<std::string> found;
  for (int i = 1; i <= 10; ++i)
    found.push_back(std::to_string(i));
  CHECK(first_of(found) == found);
  CHECK(first_of({}).empty());
  found.insert(found.end(), {"11", "12"});
  const std::vector<std::string> shown = first_of(found);
  REQUIRE(shown.size() == 11);
  CHECK(shown[9] == "10");
  CHECK(shown[10] == "and 2 more");

  const TemporaryFolder folder;
  RealFileSystem files;
  folder.write("config.json", tiny_config().dump());
  folder.write("model.safetensors", file_of({"a"}));
  const ModelReport report = inspect_model(files, folder.path(), {}, 100);
  CHECK(report.check.problems.size() == 27);
  const std::string text = report_text(report);
  CHECK_THAT(text, Catch::EndsWith("wrong: and 17 more\n"));
  CHECK_THAT(text, !Catch::Contains(report.check.problems[10]));
  CHECK(nlohmann::json::parse(report_json(report))["problems"].size() == 27);
}
