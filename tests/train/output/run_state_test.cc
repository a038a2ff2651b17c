#include "train/output/run_state.h"

#include "base/error.h"
#include "base/json_reader.h"
#include "catch.h"

using namespace odb;

namespace {

const RunState kState{.totals = {.epoch = 1,
                                 .epoch_views = 40,
                                 .steps = 100,
                                 .samples = 1035,
                                 .left_out = 5,
                                 .tokens = 99999,
                                 .supervised_tokens = 5000,
                                 .idle_slots = 3,
                                 .skipped_steps = 2,
                                 .seconds = 0},
                      .best = BestEvaluation{.step = 50, .loss = 0.1},
                      .evaluation_open = true,
                      .world_size = 8,
                      .seed = ~std::uint64_t{0},
                      .data_size = 1000,
                      .life = 2,
                      .options = "batching=odb l-max=8192",
                      .inputs = R"({"file 1 of --data":"7 rows"})"};

std::string changed(const std::string& key, const Json& value) {
  Json json = Json::parse(to_json(kState));
  if (value.is_discarded())
    json.erase(key);
  else
    json[key] = value;
  return json.dump();
}

}  // namespace

TEST_CASE("The state of a run is read back from its text") {
  CHECK(parse_run_state(to_json(kState), "state.json") == kState);
  CHECK(to_json(parse_run_state(to_json(kState), "state.json")) == to_json(kState));
  RunState first;
  first.data_size = 1;
  CHECK(parse_run_state(to_json(first), "state.json") == first);
}

TEST_CASE("A state from before skipped steps were counted has none") {
  RunState expected = kState;
  expected.totals.skipped_steps = 0;
  CHECK(parse_run_state(changed("skipped_steps", Json(Json::value_t::discarded)), "state.json") ==
        expected);
}

TEST_CASE("Seconds are of a process life and not in the state") {
  RunState later = kState;
  later.totals.seconds = 5;
  CHECK(to_json(later) == to_json(kState));
}

TEST_CASE("The text of a state is fixed") {
  CHECK(to_json(kState) == R"({
  "version": 1,
  "step": 100,
  "epoch": 1,
  "epoch_views": 40,
  "samples": 1035,
  "left_out_views": 5,
  "tokens": 99999,
  "supervised_tokens": 5000,
  "idle_slots": 3,
  "skipped_steps": 2,
  "best_evaluation": {
    "step": 50,
    "loss": 0.1
  },
  "evaluation_open": true,
  "life": 2,
  "world_size": 8,
  "seed": 18446744073709551615,
  "data_size": 1000,
  "options": "batching=odb l-max=8192",
  "inputs": "{\"file 1 of --data\":\"7 rows\"}"
}
)");
}

TEST_CASE("An invalid state is refused with its place") {
  const Json missing(Json::value_t::discarded);
  struct Case {
    std::string text, said;
  };
  const std::vector<Case> cases = {
      {"", "state.json"},
      {"{\"version\": 1, \"version\": 1}", "version"},
      {changed("version", 2), "found version 2"},
      {changed("step", missing), "step: found nothing"},
      {changed("step", -1), "step: found -1"},
      {changed("tokens", 1.5), "tokens"},
      {changed("seed", -1), "seed"},
      {changed("seed", missing), "seed"},
      {changed("options", 3), "options"},
      {changed("options", missing), "options"},
      {changed("evaluation_open", missing), "evaluation_open"},
      {changed("world_size", 0), "world_size"},
      {changed("data_size", 0), "data_size"},
      {changed("best_evaluation", Json{{"step", 3}}), "best_evaluation: loss"},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.text);
    CHECK_THROWS_WITH(parse_run_state(wrong.text, "state.json"), Catch::Contains(wrong.said));
    CHECK_THROWS_AS(parse_run_state(wrong.text, "state.json"), FileError);
  }
}

TEST_CASE("A run state with any byte changed is read or refused, nothing else") {
  const std::string good = to_json(kState);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const int flip : {0x01, 0x10, 0x40, 0x80}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      try {
        parse_run_state(bytes, "x");
      } catch (const FileError&) {
        ++refused;
      }
    }
  CHECK(refused > good.size());
}
