// The models of tests/cases/models, which others load wrongly, or although they are not whole.
#include <nlohmann/json.hpp>
#include <torch/types.h>

#include "base/error.h"
#include "catch.h"
#include "golden_models.h"
#include "model/weights_io.h"

using namespace odb;
using torch::Tensor;

namespace {

nlohmann::json reference() {
  RealFileSystem files;
  return nlohmann::json::parse(files.read_all(kCaseModels + "reference.expected.json"));
}

// Folders without weights of their own use those of base.
LanguageModel load_case(const std::string& name) {
  RealFileSystem files;
  LanguageModel model(read_model_config(files, kCaseModels + name), {});
  const std::string own = kCaseModels + name;
  const bool has_weights = files.list(own).size() > 1;
  load_weights(files, has_weights ? own : kCaseModels + "base", model);
  return model;
}

void check_numbers(const std::string& name, const std::string& like) {
  INFO(name);
  const nlohmann::json numbers = reference();
  LanguageModel model = load_case(name);
  const auto ids = numbers["input_ids"].get<std::vector<std::int64_t>>();
  const Tensor tokens = torch::tensor(ids, torch::kLong);
  const RowOffsets row = RowOffsets::padded(1, tokens.size(0));
  const torch::NoGradGuard no_gradients;
  const LossSum loss = model.loss(tokens, tokens, row);
  CHECK(loss.count == tokens.size(0) - 1);
  CHECK(loss.sum.item<double>() / static_cast<double>(loss.count) ==
        Approx(numbers[like]["nll"].get<double>()).margin(1e-4));
  const Tensor last = model.hidden_states(tokens, row).narrow(0, tokens.size(0) - 1, 1);
  const auto expected = numbers[like]["last_logits_first8"].get<std::vector<double>>();
  CHECK(distance(model.logits(last)[0].narrow(0, 0, 8).to(torch::kDouble),
                 torch::tensor(expected, torch::kDouble)) < 1e-4);
}

void check_refused(const std::string& name, const std::vector<std::string>& parts) {
  INFO(name);
  try {
    load_case(name);
    FAIL("was not refused");
  } catch (const FileError& error) {
    for (const std::string& part : parts)
      CHECK_THAT(error.what(), Catch::Contains(part));
  }
}

}  // namespace

TEST_CASE("Case models that are whole give the listed numbers") {
  for (const std::string name :
       {"base", "sharded", "tied_no_head", "tied_stale_head", "rope_v5", "rope_scaling_default",
        "rope_linear_old_key", "rope_yarn", "rope_yarn_v5"})
    check_numbers(name, name);
}

TEST_CASE("Case models that are not whole are refused by file") {
  check_refused("sharded_missing",
                {"model.safetensors.index.json", "model-00002-of-00002.safetensors", "not found"});
  check_refused("truncated", {"truncated/model.safetensors", "is cut"});
  check_refused("truncated_header", {"truncated_header/model.safetensors", "is cut"});
  check_refused("zero_byte", {"zero_byte/model.safetensors", "found 0 bytes"});
  check_refused("trailing_bytes", {"trailing_bytes/model.safetensors", "64 bytes after"});
  check_refused("untied_missing_head", {"untied_missing_head", "lm_head.weight", "missing"});
}

TEST_CASE("Case models with the configuration of another model are refused by name") {
  check_refused("head_dim_absent", {"q_proj.weight", "found shape [64, 32]", "expects [512, 32]"});
  check_refused("rope_unknown", {"rope_unknown/config.json", "rope_type", "\"spiral\""});
}

TEST_CASE("A tied model whose file holds another head warns of it") {
  RealFileSystem files;
  const std::string folder = kCaseModels + "tied_stale_head";
  const WeightCheck check =
      check_weights(read_model_config(files, folder), open_stored_weights(files, folder));
  CHECK(check.problems.empty());
  REQUIRE(check.warnings.size() == 1);
  CHECK_THAT(check.warnings[0], Catch::Contains("lm_head.weight is not used"));
}
