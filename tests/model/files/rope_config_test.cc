// Rotary embeddings in config.json, old and new spelling, and the frequencies that they define. The
// expected frequencies were computed with transformers 4.57 (modeling_rope_utils) in fp32.
#include "model/files/rope_config.h"

#include "base/error.h"
#include "catch.h"
#include "model/layers/rope_frequencies.h"
#include "model/test_models.h"

using namespace odb;

namespace {

ModelConfig with_rope(const Json& changes) {
  Json json = tiny_config();
  json.update(changes);
  json["head_dim"] = 8;
  return parse(json);
}

void check_refused(const Json& changes, const std::string& part) {
  INFO(changes.dump());
  try {
    with_rope(changes);
    FAIL_CHECK("was not refused");
  } catch (const FileError& error) {
    CHECK_THAT(error.what(), Catch::Contains(part));
  }
}

void check_frequencies(const ModelConfig& config, std::int64_t length,
                       const std::vector<double>& expected) {
  const std::vector<float> found = rope_frequencies(config, length);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).epsilon(1e-6));
}

}  // namespace

TEST_CASE("The base may stand in either place, but not with two values") {
  CHECK(with_rope(Json::object()).rope.theta == 1e6);
  const Json inside = {{"rope_theta", nullptr},
                       {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e5}}}};
  CHECK(with_rope(inside).rope.theta == 5e5);
  const Json both = {{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 1e6}}}};
  CHECK(with_rope(both).rope.theta == 1e6);
  check_refused({{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e5}}}},
                "rope_theta is 1000000 but rope_parameters says 500000");
  const Json linear = {{"rope_type", "linear"}, {"factor", 2}};
  const Json steeper = {{"rope_type", "linear"}, {"factor", 8}};
  CHECK(with_rope({{"rope_parameters", linear}, {"rope_scaling", linear}}).rope.factor == 2);
  check_refused({{"rope_parameters", linear}, {"rope_scaling", steeper}},
                "rope_parameters and rope_scaling differ");
  const Json with_base = {{"rope_type", "linear"}, {"factor", 2}, {"rope_theta", 1e4}};
  check_refused({{"rope_scaling", with_base}}, "rope_scaling says rope_theta 10000");
}

TEST_CASE("Types in both spellings") {
  CHECK(with_rope({{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}}).rope.type ==
        RopeType::linear);
  CHECK(with_rope({{"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 2}}}}).rope.type ==
        RopeType::dynamic);
  CHECK(with_rope({{"rope_scaling", nullptr}}).rope.type == RopeType::plain);
  check_refused({{"rope_scaling", {{"type", "linear"}, {"rope_type", "yarn"}, {"factor", 2}}}},
                "rope_type is 'yarn' but type is 'linear'");
  check_refused({{"rope_scaling", {{"factor", 2}}}}, "rope_scaling: rope_type: found nothing");
  check_refused({{"rope_scaling", {{"rope_type", "longrope"}, {"factor", 2}}}},
                "found \"longrope\", expected one of default, linear, dynamic, llama3, yarn");
  check_refused({{"rope_scaling", {{"rope_type", "linear"}}}}, "factor: found nothing");
  check_refused({{"rope_scaling", {{"rope_type", "default"}, {"mrope_section", {1, 2, 3}}}}},
                "mrope_section");
  check_refused(
      {{"rope_scaling",
        {{"rope_type", "llama3"}, {"factor", 8}, {"low_freq_factor", 1}, {"high_freq_factor", 4}}}},
      "original_max_position_embeddings: found nothing");
  check_refused({{"rope_scaling",
                  {{"rope_type", "llama3"},
                   {"factor", 8},
                   {"low_freq_factor", 4},
                   {"high_freq_factor", 4},
                   {"original_max_position_embeddings", 16}}}},
                "more than low_freq_factor");
}

TEST_CASE("Frequencies of each type are those of transformers") {
  check_frequencies(with_rope({{"rope_theta", 1e4}}), 10, {1, 0.1, 0.01, 0.001});
  const auto scaled = [](const Json& scaling) {
    return with_rope({{"rope_theta", 1e4}, {"rope_scaling", scaling}});
  };
  check_frequencies(scaled({{"rope_type", "linear"}, {"factor", 4.0}}), 10,
                    {0.25, 0.025, 0.0025, 0.00025});
  const ModelConfig dynamic = scaled({{"rope_type", "dynamic"}, {"factor", 2.0}});
  check_frequencies(dynamic, 64, {1, 0.1, 0.01, 0.001});
  check_frequencies(dynamic, 128, {1, 0.0693361238, 0.00480749831, 0.00033333333});
  CHECK_FALSE(rope_depends_on_length(dynamic, 64));
  CHECK(rope_depends_on_length(dynamic, 65));
  check_frequencies(scaled({{"rope_type", "llama3"},
                            {"factor", 8.0},
                            {"low_freq_factor", 1.0},
                            {"high_freq_factor", 4.0},
                            {"original_max_position_embeddings", 64}}),
                    10, {1, 0.0130422562, 0.00124999997, 0.000125});
}

TEST_CASE("YaRN: frequencies, and the factor of the tables") {
  Json yarn = {{"rope_type", "yarn"},
               {"factor", 4.0},
               {"original_max_position_embeddings", 64},
               {"beta_fast", 8.0},
               {"beta_slow", 0.02}};
  const auto config = [&] { return with_rope({{"rope_theta", 1e4}, {"rope_scaling", yarn}}); };
  check_frequencies(config(), 10, {1, 0.075, 0.005, 0.00025});
  CHECK(config().rope.attention_factor == Approx(1.138629436111989));
  yarn.update({{"truncate", false}, {"mscale", 0.7}, {"mscale_all_dim", 0.3}});
  check_frequencies(config(), 10, {1, 0.0742005408, 0.0045377221, 0.00025});
  CHECK(config().rope.attention_factor == Approx(1.0532376815143234));
  yarn["attention_factor"] = 0.8;
  CHECK(config().rope.attention_factor == 0.8);
}
