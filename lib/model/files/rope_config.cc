#include "model/files/rope_config.h"

#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace odb {
namespace {

constexpr std::int64_t kMaxPositions = std::int64_t{1} << 40;

constexpr std::array<std::pair<std::string_view, RopeType>, 5> kTypes{
    {{"default", RopeType::plain},
     {"linear", RopeType::linear},
     {"dynamic", RopeType::dynamic},
     {"llama3", RopeType::llama3},
     {"yarn", RopeType::yarn}}};

RopeType read_type(const JsonObjectReader& values) {
  const auto name = values.text_or_none("rope_type");
  const auto old_name = values.text_or_none("type");
  if (!name && !old_name) values.refuse("rope_type", "the name of a rope type");
  if (name && old_name && *name != *old_name)
    throw FileError("{}: rope_type is '{}' but type is '{}'; expected one of them, or the same",
                    values.where(), *name, *old_name);
  for (const auto& [known, type] : kTypes)
    if (known == name.value_or(old_name.value_or(""))) return type;
  values.refuse(name ? "rope_type" : "type", "one of default, linear, dynamic, llama3, yarn");
}

// As the paper suggests, unless the file says otherwise (YaRN, section 3.4).
double yarn_attention_factor(const JsonObjectReader& values, double factor) {
  const auto given = values.positive_or_none("attention_factor");
  if (given) return *given;
  const auto magnitude = [factor](double weight) {
    return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
  };
  // 0 is allowed here and counts as missing.
  const auto weight = [&values](const char* key) {
    const Json* value = values.find(key);
    if (value != nullptr && !value->is_number()) values.refuse(key, "a number");
    return value == nullptr ? 0 : value->get<double>();
  };
  const double numerator = weight("mscale");
  const double denominator = weight("mscale_all_dim");
  if (numerator == 0 || denominator == 0) return magnitude(1);
  return magnitude(numerator) / magnitude(denominator);
}

// Everything but the base.
RopeConfig read_scaling(const JsonObjectReader& values, std::int64_t max_length) {
  RopeConfig rope;
  rope.type = read_type(values);
  if (values.positive_or_none("partial_rotary_factor").value_or(1) != 1)
    values.refuse("partial_rotary_factor", "1: heads that are rotated in part are not supported");
  if (values.has("mrope_section"))
    values.refuse("mrope_section", "nothing: multimodal positions are not supported");
  if (rope.type == RopeType::plain) return rope;
  rope.factor = values.positive("factor");
  const auto original =
      values.integer_or_none("original_max_position_embeddings", 1, kMaxPositions);
  rope.original_length = original.value_or(max_length);
  if (rope.type == RopeType::llama3) {
    if (!original) values.refuse("original_max_position_embeddings", "a number of positions");
    rope.low_frequency_factor = values.positive("low_freq_factor");
    rope.high_frequency_factor = values.positive("high_freq_factor");
    if (rope.high_frequency_factor <= rope.low_frequency_factor)
      values.refuse("high_freq_factor", "more than low_freq_factor");
  }
  // Dynamic scaling counts from the model's own length, whatever else the file says.
  if (rope.type == RopeType::dynamic) rope.original_length = max_length;
  if (rope.type == RopeType::yarn) {
    rope.fast_rotations = values.positive_or_none("beta_fast").value_or(32);
    rope.slow_rotations = values.positive_or_none("beta_slow").value_or(1);
    rope.truncate = values.boolean("truncate", true);
    rope.attention_factor = yarn_attention_factor(values, rope.factor);
  }
  return rope;
}

}  // namespace

std::string_view name(RopeType type) {
  for (const auto& [name, known] : kTypes)
    if (known == type) return name;
  throw InternalError("a rope type without a name");
}

RopeConfig read_rope_config(const JsonObjectReader& config, std::int64_t max_length) {
  const auto parameters = config.object_or_none("rope_parameters");
  const auto scaling = config.object_or_none("rope_scaling");
  RopeConfig rope;
  if (parameters)
    rope = read_scaling(*parameters, max_length);
  else if (scaling)
    rope = read_scaling(*scaling, max_length);
  if (parameters && scaling && read_scaling(*scaling, max_length) != rope)
    throw FileError(
        "{}: rope_parameters and rope_scaling differ; expected one of them, or equal ones",
        config.where());

  const auto outer = config.positive_or_none("rope_theta");
  const auto inner = parameters ? parameters->positive_or_none("rope_theta") : std::nullopt;
  if (outer && inner && *outer != *inner)
    throw FileError("{}: rope_theta is {} but rope_parameters says {}", config.where(), *outer,
                    *inner);
  rope.theta = inner.value_or(outer.value_or(10000));
  // Other readers differ on whether they read it there.
  if (const auto third = scaling ? scaling->positive_or_none("rope_theta") : std::nullopt;
      third && *third != rope.theta)
    throw FileError("{}: rope_scaling says rope_theta {}; expected {}, the value outside of it",
                    config.where(), *third, rope.theta);
  if (rope.theta <= 1) config.refuse("rope_theta", "a number above 1");
  return rope;
}

}  // namespace odb
