#include "model/files/answer_files.h"

#include "base/error.h"
#include "base/json_reader.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "model/files/model_folder.h"
#include "model/test_models.h"
#include "temporary_folder.h"

using namespace odb;

namespace {

using Ids = std::vector<std::int64_t>;

// A model folder, and what is planned for it.
struct Base {
  TemporaryFolder folder;
  RealFileSystem files;
  Json config = tiny_config();

  AnswerFiles plan(const AnswerFormat& format) {
    return plan_answer_files(files, folder.path(), folder.path(), parse(config), format);
  }
  Json written(const std::string& name) { return Json::parse(files.read_all(folder / name)); }
};

const AnswerFormat kChatml = {
    .end_tokens = {12}, .eos_token = "<|im_end|>", .chat_template = "{{ x }}"};

}  // namespace

TEST_CASE("The end tokens that were trained come before those that the base model has") {
  Base base;
  base.config["eos_token_id"] = 10;
  base.folder.write("config.json", base.config.dump());
  base.folder.write("generation_config.json", R"({"eos_token_id": [10, 11], "top_k": 20})");
  const AnswerFiles answers = base.plan(kChatml);
  CHECK(answers.end_tokens == Ids{12, 10, 11});
  write_answer_files(base.files, answers, base.folder.path());
  CHECK(base.written("config.json")["eos_token_id"] == Json({12, 10, 11}));
  CHECK(base.written("config.json")["vocab_size"] == 20);
  CHECK(base.written("generation_config.json") ==
        Json({{"eos_token_id", {12, 10, 11}}, {"top_k", 20}}));
  CHECK(base.plan({.end_tokens = {12}, .eos_token = "", .chat_template = ""}).end_tokens ==
        Ids{12, 10, 11});
}

TEST_CASE("A model that names no end token gets the one that was trained") {
  Base base;
  base.folder.write("config.json", base.config.dump());
  base.folder.write("generation_config.json", R"({"do_sample": true})");
  write_answer_files(base.files, base.plan(kChatml), base.folder.path());
  CHECK(base.written("config.json")["eos_token_id"] == 12);
  CHECK(base.written("generation_config.json")["eos_token_id"] == 12);
}

TEST_CASE("Tokenizer files get the end token and the chat template, and keep all else") {
  Base base;
  base.folder.write(
      "tokenizer_config.json",
      R"({"eos_token": {"content": "<e>"}, "pad_token": "<p>", "chat_template": "old"})");
  base.folder.write("special_tokens_map.json", R"({"eos_token": "<e>", "pad_token": "<p>"})");
  write_answer_files(base.files, base.plan(kChatml), base.folder.path());
  CHECK(base.written("tokenizer_config.json") ==
        Json({{"eos_token", "<|im_end|>"}, {"pad_token", "<p>"}, {"chat_template", "{{ x }}"}}));
  CHECK(base.written("special_tokens_map.json") ==
        Json({{"eos_token", "<|im_end|>"}, {"pad_token", "<p>"}}));
  CHECK(base.files.read_all(base.folder / "chat_template.jinja") == "{{ x }}");
}

TEST_CASE("A tokenizer without such files gets those that say something") {
  Base base;
  const AnswerFiles answers = base.plan(kChatml);
  CHECK(answers.files.size() == 2);
  CHECK(Json::parse(answers.files.at("tokenizer_config.json")) ==
        Json({{"eos_token", "<|im_end|>"}, {"chat_template", "{{ x }}"}}));
}

TEST_CASE("Files that say it already stay as they are") {
  Base base;
  base.config["eos_token_id"] = {10, 12};
  base.folder.write("generation_config.json", R"({"eos_token_id": 12})");
  base.folder.write("tokenizer_config.json", R"({"eos_token": {"content": "<|im_end|>"}})");
  base.folder.write("special_tokens_map.json", R"({"eos_token": "<|im_end|>"})");
  CHECK(base.plan({.end_tokens = {12}, .eos_token = "<|im_end|>", .chat_template = ""}).empty());
  CHECK(base.plan({}).empty());
}

TEST_CASE("A file that cannot be read is named when the run starts") {
  for (const std::string name :
       {"generation_config.json", "tokenizer_config.json", "special_tokens_map.json"}) {
    Base base;
    base.folder.write(name, "{broken");
    CHECK_THROWS_WITH(base.plan(kChatml), Catch::StartsWith(base.folder / name));
  }
}

TEST_CASE("Files of another tokenizer replace those of the model, generation settings do not") {
  Base base;
  const TemporaryFolder other, to;
  for (const std::string name :
       {"tokenizer.json", "chat_template.jinja", "vocab.json", "generation_config.json"})
    base.folder.write(name, "of the model");
  other.write("tokenizer.json", "other");
  other.write("mine.json", "mine");
  other.write("generation_config.json", "other");
  copy_auxiliary_files(base.files, base.folder.path(), other.path(), to.path());
  CHECK(base.files.list(to.path()) ==
        std::vector<std::string>{"generation_config.json", "tokenizer.json"});
  CHECK(base.files.read_all(to / "generation_config.json") == "of the model");
  CHECK(base.files.read_all(to / "tokenizer.json") == "other");
  copy_auxiliary_files(base.files, base.folder.path(), other / "mine.json", to.path());
  CHECK(base.files.read_all(to / "tokenizer.json") == "mine");
}
