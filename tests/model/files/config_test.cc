#include "model/files/config.h"

#include "base/error.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "model/files/model_folder.h"
#include "model/test_models.h"
#include "temporary_folder.h"

using namespace odb;
using Json = nlohmann::ordered_json;

namespace {

ModelConfig with(const Json& changes) {
  Json json = tiny_config();
  json.update(changes);
  return parse(json);
}

void check_refused(const Json& changes, const std::vector<std::string>& parts) {
  INFO(changes.dump());
  try {
    with(changes);
    FAIL_CHECK("was not refused");
  } catch (const FileError& error) {
    for (const std::string& part : parts)
      CHECK_THAT(error.what(), Catch::Contains(part));
  }
}

}  // namespace

TEST_CASE("A configuration is read as it stands") {
  const ModelConfig config = with({{"rms_norm_eps", 1e-5}, {"eos_token_id", {3, 7}}});
  CHECK(config.family == ModelFamily::qwen3);
  CHECK(config.vocabulary_size == 20);
  CHECK(config.hidden_size == 8);
  CHECK(config.intermediate_size == 12);
  CHECK(config.layers == 2);
  CHECK(config.heads == 4);
  CHECK(config.key_value_heads == 2);
  CHECK(config.head_size == 4);
  CHECK(config.query_width() == 16);
  CHECK(config.norm_epsilon == 1e-5);
  CHECK(config.rope.theta == 1e6);
  CHECK(config.query_key_norm);
  CHECK_FALSE(config.qkv_bias);
  CHECK_FALSE(config.tied_embeddings);
  CHECK(config.end_tokens == std::vector<std::int64_t>{3, 7});
}

TEST_CASE("A missing key has its family's default") {
  Json json = tiny_config();
  json.erase("head_dim");
  CHECK(parse(json).head_size == 128);  // Qwen3: never hidden / heads
  json.update({{"model_type", "qwen2"}});
  CHECK(parse(json).head_size == 2);
  CHECK(parse(json).qkv_bias);
  CHECK_FALSE(parse(json).output_bias);
  CHECK_FALSE(parse(json).query_key_norm);
  json.update({{"model_type", "llama"}, {"attention_bias", true}, {"mlp_bias", true}});
  json.erase("num_key_value_heads");
  json.erase("rope_theta");
  json.erase("max_position_embeddings");
  CHECK(parse(json).key_value_heads == 4);
  CHECK(parse(json).output_bias);
  CHECK(parse(json).mlp_bias);
  CHECK(parse(json).rope.theta == 10000);
  CHECK(parse(json).max_length == 2048);
}

TEST_CASE("What is not supported is refused by name") {
  check_refused({{"model_type", "mamba"}}, {"config.json: model_type: found \"mamba\"", "qwen3"});
  check_refused({{"model_type", nullptr}}, {"model_type: found nothing"});
  check_refused({{"hidden_act", "gelu"}}, {"hidden_act: found \"gelu\", expected silu"});
  check_refused({{"attention_dropout", 0.1}}, {"attention_dropout: found 0.1, expected 0"});
  check_refused({{"quantization_config", Json::object()}}, {"quantization_config"});
  check_refused({{"partial_rotary_factor", 0.5}}, {"partial_rotary_factor: found 0.5"});
  check_refused({{"layer_types", {"full_attention", "sliding_attention"}}},
                {"layer_types: found \"sliding_attention\""});
  check_refused({{"layer_types", {"full_attention"}}}, {"layer_types", "a list of 2 names"});
  check_refused({{"use_sliding_window", true}, {"sliding_window", 16}, {"max_window_layers", 1}},
                {"use_sliding_window"});
  // Where the window's size is missing, the family has one.
  check_refused({{"use_sliding_window", true}, {"max_window_layers", 0}}, {"use_sliding_window"});
}

TEST_CASE("A sliding window that no layer uses is accepted") {
  const Json unused = {
      {"use_sliding_window", true}, {"sliding_window", 16}, {"max_window_layers", 2}};
  CHECK(with(unused).layers == 2);
  CHECK(with({{"use_sliding_window", false}, {"sliding_window", 16}}).layers == 2);
  CHECK(with({{"use_sliding_window", true}, {"sliding_window", nullptr}, {"max_window_layers", 0}})
            .layers == 2);
}

TEST_CASE("Impossible sizes are refused with what was found and expected") {
  for (const char* key : {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
                          "num_attention_heads"}) {
    check_refused({{key, 0}}, {std::string(key) + ": found 0, expected a whole number from 1"});
    check_refused({{key, -1}}, {std::string(key) + ": found -1"});
    check_refused({{key, 2.5}}, {std::string(key) + ": found 2.5"});
    check_refused({{key, "8"}}, {std::string(key) + ": found \"8\""});
    check_refused({{key, nullptr}}, {std::string(key) + ": found nothing"});
    check_refused({{key, 18446744073709551615u}}, {std::string(key) + ": found 1844"});
  }
  check_refused({{"num_key_value_heads", 3}}, {"a divisor of num_attention_heads (4)"});
  check_refused({{"head_dim", 3}}, {"heads of 3 values", "even"});
  check_refused({{"rms_norm_eps", 0}}, {"rms_norm_eps: found 0, expected a number above 0"});
  check_refused({{"eos_token_id", 20}}, {"eos_token_id: found 20", "from 0 to 19"});
  check_refused({{"eos_token_id", {3, -1}}}, {"eos_token_id: found -1"});
  check_refused({{"tie_word_embeddings", "yes"}}, {"true or false"});
}

TEST_CASE("Text that is not a configuration") {
  for (const char* text : {"", "[1]", "{", "{\"a\": 1} x", "{\"a\": nan}"})
    CHECK_THROWS_AS(parse_model_config(text, "config.json"), FileError);
  // A byte 0 does not hide what follows it.
  const std::string sound = tiny_config().dump();
  CHECK_THROWS_WITH(parse_model_config(sound + std::string("\0{}", 3), "config.json"),
                    Catch::Contains("found a byte 0 at " + std::to_string(sound.size())));
  try {
    parse_model_config(R"({"model_type": "qwen3", "model_type": "llama"})", "config.json");
    FAIL("was not refused");
  } catch (const FileError& error) {
    CHECK_THAT(error.what(), Catch::Contains("the key \"model_type\" comes twice"));
  }
}

TEST_CASE("The type of stored weights is written to every key that exists") {
  Json json = tiny_config();
  CHECK(Json::parse(config_json_with_dtype(parse(json), "bfloat16"))["torch_dtype"] == "bfloat16");
  json["dtype"] = "float32";
  const Json changed = Json::parse(config_json_with_dtype(parse(json), "bfloat16"));
  Json expected = json;
  expected["dtype"] = "bfloat16";
  if (json.contains("torch_dtype")) expected["torch_dtype"] = "bfloat16";
  CHECK(changed == expected);
  json["torch_dtype"] = "float16";
  const Json both = Json::parse(config_json_with_dtype(parse(json), "bfloat16"));
  CHECK(both["dtype"] == "bfloat16");
  CHECK(both["torch_dtype"] == "bfloat16");
}

TEST_CASE("Answers end where generation_config.json says, or without it config.json") {
  const TemporaryFolder folder;
  RealFileSystem files;
  const auto ends = [&] {
    return read_end_tokens(files, folder.path(), with({{"eos_token_id", 7}}));
  };
  CHECK(ends() == std::vector<std::int64_t>{7});
  const std::string path =
      folder.write("generation_config.json", R"({"eos_token_id": [9, 7, 3], "top_k": 20})");
  CHECK(ends() == std::vector<std::int64_t>{9, 7, 3});
  folder.write("generation_config.json", R"({"eos_token_id": 9})");
  CHECK(ends() == std::vector<std::int64_t>{9});
  folder.write("generation_config.json", R"({"do_sample": true})");
  CHECK(ends().empty());
  for (const std::string wrong :
       {R"({"eos_token_id": [3, 20]})", R"({"eos_token_id": "end"})", "no JSON"}) {
    folder.write("generation_config.json", wrong);
    CHECK_THROWS_WITH(ends(), Catch::StartsWith(path));
  }
}

TEST_CASE("What is not a model folder is refused with what it looks like") {
  const TemporaryFolder folder;
  RealFileSystem files;
  const auto refusal = [&](const std::string& name) -> std::string {
    try {
      read_model_config(files, folder / name);
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(refusal("Qwen/Qwen3-0.6B"), Catch::Contains("no such folder"));
  folder.write("run/config.json", "{}");
  files.make_folders(folder / "run/checkpoints");
  CHECK_THAT(refusal("run"), Catch::Contains("is the folder of a run") &&
                                 Catch::Contains("run/checkpoints/step-..."));
}
