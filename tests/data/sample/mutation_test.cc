// Broken records: those of the case files with bytes changed, cut, doubled and mixed.
#include <fstream>
#include <random>
#include <vector>

#include "catch.h"
#include "sample/survive_record.h"

using namespace odb;

namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> lines;
  const std::string folder = std::string(ODB_TESTS_FOLDER) + "/";
  for (const std::string file :
       {"cases/chat/alpaca.jsonl", "cases/chat/sharegpt_roles.jsonl", "cases/chat/thinking.jsonl",
        "cases/chat/tool_calls.jsonl", "cases/raw/lone_surrogates.jsonl",
        "cases/raw/bad_rows.jsonl", "golden/chat/talks.jsonl"}) {
    std::ifstream in(folder + file, std::ios::binary);
    for (std::string line; std::getline(in, line);)
      lines.push_back(line);
  }
  lines.emplace_back(R"({"input_ids": [1, 2, 3], "labels": [-100, 2, 3]})");
  lines.emplace_back(R"({"prompt": "a", "completion": "b"})");
  return lines;
}

std::string mutated(std::string record, const std::vector<std::string>& all, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(record.size() + 1);
    switch (below(6)) {
      case 0:
        if (at < record.size()) record[at] = static_cast<char>(random());
        break;
      case 1:
        record.insert(at, 1, "{}[]\",:\\0"[below(9)]);
        break;
      case 2:
        record.erase(at, below(8));
        break;
      case 3:
        record.resize(at);
        break;
      case 4: {
        const std::string& other = all[below(all.size())];
        record.insert(at, other.substr(below(other.size()), below(40)));
        break;
      }
      default:
        record.insert(at, record.substr(below(record.size()), below(40)));
    }
  }
  return record;
}

}  // namespace

TEST_CASE("A broken record throws only DataError") {
  const unsigned seed = 20261130;
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::vector<std::string> all = seeds();
  REQUIRE(all.size() > 60);
  int whole = 0;
  for (const std::string& record : all)
    whole += survive_record(record) ? 1 : 0;
  CHECK(whole > 50);
  for (int round = 0; round < 200; ++round) {
    const std::string record = mutated(all[random() % all.size()], all, random);
    CAPTURE(record);
    REQUIRE_NOTHROW(survive_record(record));
  }
}
