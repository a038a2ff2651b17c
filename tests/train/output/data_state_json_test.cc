#include "train/output/data_state_json.h"

#include "base/error.h"
#include "base/json_reader.h"
#include "base/rng.h"
#include "catch.h"

using namespace odb;

namespace {

OwnedState example() {
  return {.owner = {.rank = 1, .world = 3, .seed = 7, .data_size = 100, .options = "l-max=8192"},
          .state = {.start = {.epoch = 2,
                              .round = 5,
                              .next_slot = 80,
                              .sampler = {.leftover_begin = 4,
                                          .leftover_end = 9,
                                          .progressions = {{1, 3, 100}, {7, 2, 50}}},
                              .window = {{3, 0}, {5, 2}, {6, 0}, {7, 1}, {8, 0}},
                              .fill_target = 512,
                              .open_step = {.micro_steps = 1, .tokens = 900, .samples = 4},
                              .known_bad = {{11, LeftOutReason::crashed_worker}}},
                    .slots_taken = 2,
                    .taken = {9, 8, 7, 30, 31, 32, 33, 40, 41},
                    .left_out = {{12, LeftOutReason::bad_record},
                                 {13, LeftOutReason::no_supervised_token}}}};
}

bool same(const OwnedState& a, const OwnedState& b) {
  return a.owner == b.owner && a.state == b.state;
}

std::string changed(const std::string& key, const std::string& value) {
  Json json = Json::parse(to_json(example()));
  json[key] = Json::parse(value);
  return json.dump();
}

}  // namespace

TEST_CASE("The text of a data state is fixed, with a line per key") {
  CHECK(to_json(example()) == R"({
  "version": 1,
  "rank": 1,
  "world_size": 3,
  "seed": 7,
  "data_size": 100,
  "options": "l-max=8192",
  "epoch": 2,
  "round": 5,
  "next_slot": 80,
  "slots_taken": 2,
  "taken": [9,8,7,[30,33],40,41],
  "left_out": [[12,"bad record"],[13,"no supervised token"]],
  "sampler": {"leftovers":[4,9],"progressions":[[1,3,100],[7,2,50]]},
  "fill_target": 512,
  "open_step": {"micro_steps":1,"tokens":900,"samples":4},
  "known_bad": [[11,"crashed worker"]],
  "window": [3,[5,8]],
  "sent_back": [0,2,0,1,0]
}
)");
}

TEST_CASE("A data state comes back from its text") {
  CHECK(same(parse_data_state(to_json(example()), "rank-00001.json"), example()));
  OwnedState empty;
  CHECK(same(parse_data_state(to_json(empty), "x"), empty));
}

TEST_CASE("A window of 1,024 takes under 64 KiB, and random views come back") {
  Rng random(20, RandomPurpose::tests);
  OwnedState state = example();
  const auto view = [&] { return static_cast<ViewId>(random.below(std::uint64_t{1} << 35)); };
  state.state.start.window.clear();
  state.state.taken.clear();
  for (int i = 0; i < 1024; ++i) {
    state.state.start.window.push_back({.view = view(), .sent_back = i % 5});
    state.state.taken.push_back(view());
  }
  const std::string text = to_json(state);
  INFO(text.size() << " bytes");
  CHECK(text.size() < 64 * 1024);
  CHECK(same(parse_data_state(text, "x"), state));
}

TEST_CASE("An invalid data state is refused with its place and key") {
  struct Case {
    std::string text, said;
  };
  const std::vector<Case> cases = {
      {"", "rank-00001.json"},
      {to_json(example()).substr(0, 300), "rank-00001.json"},
      {changed("version", "9"), "found version 9"},
      {changed("rank", "-1"), "rank: found -1"},
      {changed("world_size", "0"), "world_size"},
      {changed("taken", "3"), "taken: "},
      {changed("taken", "[[1, 2, 3], 4]"), "taken: "},
      {changed("taken", "[\"a\", 4]"), "taken: "},
      {changed("taken", "[-4, 5]"), "taken: "},
      {changed("taken", "[18446744073709551615]"), "taken: "},
      {changed("taken", "[[5, 4]]"), "ranges"},
      {changed("taken", "[[0, 1099511627776]]"), "ranges"},
      {changed("left_out", "[[3, \"no reason\"]]"), "reasons"},
      {changed("left_out", "[3, 4]"), "pairs"},
      {changed("sampler", "3"), "sampler"},
      {changed("sampler", "{\"leftovers\": [1, 2], \"progressions\": [[1, 0, 5]]}"), "strides"},
      {changed("sampler", "{\"leftovers\": [1, 2], \"progressions\": [[1, 2]]}"), "3 numbers"},
      {changed("window", "[1, 2]"), "sent_back"},
      {changed("open_step", "null"), "open_step"},
      {changed("seed", "-3"), "seed"},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.text);
    CHECK_THROWS_AS(parse_data_state(wrong.text, "rank-00001.json"), FileError);
    CHECK_THROWS_WITH(parse_data_state(wrong.text, "rank-00001.json"), Catch::Contains(wrong.said));
  }
}

TEST_CASE("A data state with any byte changed is read or refused, nothing else") {
  const std::string good = to_json(example());
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const int flip : {0x01, 0x10, 0x40, 0x80}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      try {
        parse_data_state(bytes, "x");
      } catch (const FileError&) {
        ++refused;
      }
    }
  CHECK(refused > good.size());
}
