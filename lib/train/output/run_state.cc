#include "train/output/run_state.h"

#include <limits>

#include "base/error.h"
#include "base/json_reader.h"

namespace odb {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Json best_json(const std::optional<BestEvaluation>& best) {
  if (!best) return nullptr;
  return {{"step", best->step}, {"loss", best->loss}};
}

std::optional<BestEvaluation> best_of(const JsonObjectReader& state) {
  const auto best = state.object_or_none("best_evaluation");
  if (!best) return std::nullopt;
  const Json* loss = best->find("loss");
  if (loss == nullptr || !loss->is_number()) best->refuse("loss", "a number");
  return BestEvaluation{.step = best->integer("step", 0, kMax), .loss = loss->get<double>()};
}

std::uint64_t seed_of(const JsonObjectReader& state) {
  const Json* seed = state.find("seed");
  if (seed == nullptr || !seed->is_number_unsigned()) state.refuse("seed", "a whole number");
  return seed->get<std::uint64_t>();
}

RunTotals totals_of(const JsonObjectReader& state) {
  const auto count = [&](const char* key) { return state.integer(key, 0, kMax); };
  return {.epoch = count("epoch"),
          .epoch_views = count("epoch_views"),
          .steps = count("step"),
          .samples = count("samples"),
          .left_out = count("left_out_views"),
          .tokens = count("tokens"),
          .supervised_tokens = count("supervised_tokens"),
          .idle_slots = count("idle_slots"),
          // Not in states of earlier builds.
          .skipped_steps = state.integer_or_none("skipped_steps", 0, kMax).value_or(0),
          .seconds = 0};
}

}  // namespace

std::string to_json(const RunState& state) {
  const RunTotals& totals = state.totals;
  const Json json = {{"version", kVersion},
                     {"step", totals.steps},
                     {"epoch", totals.epoch},
                     {"epoch_views", totals.epoch_views},
                     {"samples", totals.samples},
                     {"left_out_views", totals.left_out},
                     {"tokens", totals.tokens},
                     {"supervised_tokens", totals.supervised_tokens},
                     {"idle_slots", totals.idle_slots},
                     {"skipped_steps", totals.skipped_steps},
                     {"best_evaluation", best_json(state.best)},
                     {"evaluation_open", state.evaluation_open},
                     {"life", state.life},
                     {"world_size", state.world_size},
                     {"seed", state.seed},
                     {"data_size", state.data_size},
                     {"options", state.options},
                     {"inputs", state.inputs}};
  return json.dump(2) + "\n";
}

RunState parse_run_state(std::string_view text, const std::string& where) {
  const Json json = parse_strict_object(text, where);
  const JsonObjectReader state(json, where);
  state.require_version(kVersion);
  const Json* open = state.find("evaluation_open");
  if (open == nullptr || !open->is_boolean()) state.refuse("evaluation_open", "true or false");
  const auto options = state.text_or_none("options");
  if (!options) state.refuse("options", "a text");
  return {.totals = totals_of(state),
          .best = best_of(state),
          .evaluation_open = open->get<bool>(),
          .world_size = state.integer("world_size", 1, kMax),
          .seed = seed_of(state),
          .data_size = state.integer("data_size", 1, kMax),
          .life = state.integer("life", 0, kMax),
          .options = *options,
          .inputs = state.text_or_none("inputs").value_or("")};
}

}  // namespace odb
