// inspect model, export and generate from outside: what is printed, and which exit code comes back.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/real_file_system.h"
#include "catch.h"
#include "model/files/safetensors.h"
#include "run_trainer.h"
#include "temporary_folder.h"

using namespace odb;

namespace {

const std::string kModels = ODB_TESTS_FOLDER "/cases/models/";
const std::string kTokenizer = ODB_TESTS_FOLDER "/cases/tokenizer/merges_pairs";

}  // namespace

TEST_CASE("inspect model reports architecture, size and memory") {
  const Outcome outcome = odb_trainer("inspect model '" + kModels + "base'");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.output,
             Catch::Contains("qwen3: 2 layers, hidden 32, 4 heads of 16 (2 for keys and values), "
                             "feed-forward 48, vocabulary 352\n"));
  CHECK_THAT(outcome.output, Catch::Contains("rope default, base 1000000\n"));
  CHECK_THAT(outcome.output, Catch::Contains("44256 parameters; files: 1, 86.4 KiB (BF16)\n"));
  CHECK_THAT(outcome.output, Catch::Contains("micro-batches of 8192 tokens"));
}

TEST_CASE("inspect model as JSON, with the memory of other options") {
  const std::string arguments = "inspect model '" + kModels + "sharded' --json";
  const auto plain = nlohmann::json::parse(odb_trainer(arguments).output);
  CHECK(plain["files"] == 2);
  CHECK(plain["parameters"] == 44256);
  CHECK(plain["memory_bytes"]["weights"] == 4 * 44256);
  CHECK(plain["problems"].empty());
  const auto less =
      nlohmann::json::parse(odb_trainer(arguments + " --recompute block --l-max 100").output);
  CHECK(less["memory_bytes"]["activations"] < plain["memory_bytes"]["activations"]);
  const auto largest =
      nlohmann::json::parse(odb_trainer(arguments + " --l-max 1099511627776").output);
  CHECK(largest["memory_bytes"]["total"] > largest["memory_bytes"]["activations"]);
  CHECK(odb_trainer(arguments + " --l-max 9223372036854775807").code == 2);
}

TEST_CASE("inspect model of what cannot be loaded: the report, and exit code 4") {
  const Outcome missing = odb_trainer("inspect model '" + kModels + "sharded_missing'");
  CHECK(missing.code == 4);
  CHECK_THAT(missing.output, Catch::Contains("wrong: "));
  CHECK_THAT(missing.errors, Catch::Contains("model-00002-of-00002.safetensors"));
  const Outcome unknown = odb_trainer("inspect model '" + kModels + "rope_unknown'");
  CHECK(unknown.code == 4);
  CHECK_THAT(unknown.errors, Catch::Contains("found \"spiral\""));
  const Outcome stale = odb_trainer("inspect model '" + kModels + "tied_stale_head'");
  CHECK(stale.code == 0);
  CHECK_THAT(stale.output, Catch::Contains("warning: "));
  CHECK(odb_trainer("inspect model").code == 2);
  CHECK(odb_trainer("inspect model /nowhere").code == 4);
}

#ifdef ODB_WITH_LIBTORCH

TEST_CASE("export writes what it read, in another type when asked to") {
  const TemporaryFolder folder;
  RealFileSystem files;
  const std::string arguments = "export '" + kModels + "base' '";
  const Outcome same = odb_trainer(arguments + (folder / "same") + "'");
  CHECK(same.code == 0);
  CHECK_THAT(same.output, Catch::Contains("BF16"));
  const Outcome wide = odb_trainer(arguments + (folder / "wide") + "' --dtype fp32");
  CHECK(wide.code == 0);
  const Outcome back = odb_trainer("export '" + (folder / "wide") + "' '" + (folder / "back") +
                                   "' --dtype bf16 --max-shard-size 40kB");
  CHECK(back.code == 0);
  CHECK(files.exists(folder / "back/model.safetensors.index.json"));
  const auto report =
      nlohmann::json::parse(odb_trainer("inspect model --json '" + (folder / "back") + "'").output);
  CHECK(report["types"] == "BF16");
  CHECK(report["bytes"] == 2 * 44256);
  const auto config = nlohmann::json::parse(files.read_all(folder / "wide/config.json"));
  CHECK(config["torch_dtype"] == "float32");
}

TEST_CASE("export takes the tokenizer along and overwrites nothing") {
  const TemporaryFolder folder;
  RealFileSystem files;
  std::filesystem::copy(kModels + "base", folder / "model");
  std::filesystem::copy(kTokenizer + "/tokenizer.json", folder / "model/tokenizer.json");
  const std::vector<std::string> auxiliary_files = {
      "tokenizer.model", "chat_template.json", "chat_template.jinja", "generation_config.json"};
  for (const std::string& name : auxiliary_files)
    folder.write("model/" + name, "{\"is\": \"" + name + "\"}");
  const std::string arguments = "export '" + (folder / "model") + "' '" + (folder / "out") + "'";
  CHECK(odb_trainer(arguments).code == 0);
  CHECK(files.read_all(folder / "out/tokenizer.json") ==
        files.read_all(kTokenizer + "/tokenizer.json"));
  for (const std::string& name : auxiliary_files)
    CHECK(files.read_all(folder / ("out/" + name)) == files.read_all(folder / ("model/" + name)));
  // transformers refuses files that do not state their format.
  CHECK(read_safetensors_header(files, folder / "out/model.safetensors").metadata.at("format") ==
        "pt");
  const Outcome again = odb_trainer(arguments);
  CHECK(again.code == 2);
  CHECK_THAT(again.errors, Catch::Contains("exists and is not empty"));
  CHECK(odb_trainer("export one").code == 2);
  CHECK(odb_trainer("export '" + kModels + "truncated' '" + (folder / "cut") + "'").code == 4);
  CHECK_FALSE(files.exists(folder / "cut"));
}

TEST_CASE("export keeps the weights' type when only a rebuilt table has another") {
  const TemporaryFolder folder;
  RealFileSystem files;
  std::filesystem::copy(kModels + "base", folder / "model");
  const std::string path = folder / "model/model.safetensors";
  const std::string bytes = files.read_all(path);
  std::vector<TensorToWrite> tensors;
  for (const TensorInfo& tensor : read_safetensors_header(files, path).tensors)
    tensors.push_back({tensor.name, tensor.type, tensor.shape, [&bytes, tensor] {
                         return std::string_view(bytes).substr(tensor.begin, tensor.bytes());
                       }});
  const std::string table(8 * 4, '\0');
  tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", TensorType::f32, {8}, [&] {
                       return std::string_view(table);
                     }});
  write_safetensors(files, path, tensors, {});
  const Outcome outcome =
      odb_trainer("export '" + (folder / "model") + "' '" + (folder / "out") + "'");
  INFO(outcome.errors);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.output, Catch::EndsWith("weights in BF16\n"));
  for (const TensorInfo& tensor :
       read_safetensors_header(files, folder / "out/model.safetensors").tensors)
    CHECK(tensor.type == TensorType::bf16);
}

TEST_CASE("bench model goes over batches, flat and padded, with the same loss") {
  const TemporaryFolder folder;
  RealFileSystem files;
  const auto reference = nlohmann::json::parse(files.read_all(kModels + "reference.expected.json"));
  const auto& ids = reference["input_ids"];
  nlohmann::json one_more = ids;
  one_more.push_back(5);
  nlohmann::json ignored = nlohmann::json::array();
  ignored.get_ref<nlohmann::json::array_t&>().assign(one_more.size(), -100);
  const nlohmann::json batch = {{"tokens", {ids, one_more}}, {"labels", {ids, ignored}}};
  const std::string path =
      folder.write("batches.json", nlohmann::json{{"batches", {batch}}}.dump());
  for (const std::string layout : {"flat", "padded"}) {
    const Outcome outcome = odb_trainer("bench model --model '" + kModels + "base' --batches '" +
                                        path + "' --rounds 1 --layout " + layout);
    REQUIRE(outcome.code == 0);
    const auto result = nlohmann::json::parse(outcome.output);
    CHECK(result["loss"].get<double>() ==
          Approx(reference["base"]["nll"].get<double>()).margin(1e-4));
    CHECK(result["real_tokens"] == 2 * ids.size() + 1);
    CHECK(result["computed_tokens"] == 2 * ids.size() + (layout == "flat" ? 1 : 2));
    CHECK(result["seconds"].size() == 1);
  }
  const std::string broken = folder.write("broken.json", R"({"batches": [{"tokens": [[1]]}]})");
  CHECK(odb_trainer("bench model --model '" + kModels + "base' --batches '" + broken + "'").code ==
        4);
}

TEST_CASE("generate answers a prompt, the same each time") {
  const std::string arguments = "generate --model '" + kModels + "base' --tokenizer '" +
                                kTokenizer + "' --prompt 'How are you?' --max-new-tokens 6";
  const Outcome chat = odb_trainer(arguments);
  CHECK(chat.code == 0);
  CHECK(chat.output.size() > 1);
  CHECK(odb_trainer(arguments).output == chat.output);
  CHECK(odb_trainer(arguments + " --raw").code == 0);
  CHECK(odb_trainer(arguments + " --dtype bf16 --system 'Be brief.'").code == 0);
  CHECK(odb_trainer_unread(arguments).code == 141);
  CHECK(odb_trainer("generate --prompt x").code == 2);
  CHECK(odb_trainer("generate --model '" + kModels + "base'").code == 2);
}

TEST_CASE("generate ends at an end token of generation_config.json") {
  const TemporaryFolder folder;
  std::filesystem::copy(kModels + "base", folder / "model");
  const std::string arguments = "generate --model '" + (folder / "model") + "' --tokenizer '" +
                                kTokenizer + "' --raw --prompt abc --max-new-tokens 8";
  const Outcome whole = odb_trainer(arguments);
  REQUIRE(whole.code == 0);
  std::string every_id;
  for (int id = 0; id < 352; ++id)
    every_id += (id > 0 ? ", " : "") + std::to_string(id);
  folder.write("model/generation_config.json", "{\"eos_token_id\": [" + every_id + "]}");
  const Outcome ended = odb_trainer(arguments);
  REQUIRE(ended.code == 0);
  CHECK(ended.output.size() < whole.output.size());
  folder.write("model/generation_config.json", "{\"eos_token_id\": 352}");
  CHECK(odb_trainer(arguments).code == 4);
}

#endif

TEST_CASE("inspect model --init random needs no weights, and takes only one folder") {
  const std::string folder = "'" ODB_TESTS_FOLDER "/cases/models/rope_v5'";
  CHECK(odb_trainer("inspect model " + folder).code == 4);
  const Outcome random = odb_trainer("inspect model --init random " + folder);
  CHECK(random.code == 0);
  CHECK_THAT(random.output, !Catch::Contains("files:"));
  CHECK(odb_trainer("inspect model --model " + folder + " " + folder).code == 2);
}
