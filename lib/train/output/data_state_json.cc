#include "train/output/data_state_json.h"

#include <array>
#include <limits>

#include "base/error.h"
#include "base/json_reader.h"

namespace odb {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::array kReasons = {LeftOutReason::bad_record, LeftOutReason::no_supervised_token,
                                 LeftOutReason::crashed_worker};

Json views_json(const std::vector<ViewId>& views) {
  Json list = Json::array();
  for (std::size_t i = 0; i < views.size();) {
    std::size_t end = i + 1;
    while (end < views.size() && views[end] == views[end - 1] + 1)
      ++end;
    if (end - i < 3) {
      list.push_back(views[i]);
      ++i;
    } else {
      list.push_back({views[i], views[end - 1]});
      i = end;
    }
  }
  return list;
}

Json left_out_json(const std::vector<LeftOut>& rows) {
  Json list = Json::array();
  for (const LeftOut& row : rows)
    list.push_back({row.view, name(row.reason)});
  return list;
}

Json sampler_json(const SamplerPosition& position) {
  Json progressions = Json::array();
  for (const Progression& progression : position.progressions)
    progressions.push_back({progression.start, progression.stride, progression.end});
  return {{"leftovers", {position.leftover_begin, position.leftover_end}},
          {"progressions", progressions}};
}

// One key per line, each value without blanks, so that a window does not take a line per view.
std::string lines_of(const Json& object) {
  std::string text = "{\n";
  for (const auto& [key, value] : object.items())
    text += fmt::format("  {}: {},\n", Json(key).dump(), value.dump());
  text.erase(text.size() - 2, 1);
  return text + "}\n";
}

// Reads lists from the object of a reader; errors name their key.
class ListReader {
 public:
  explicit ListReader(const JsonObjectReader& object) : object_(object) {}

  const Json& list(const std::string& key) const {
    const Json* found = object_.find(key);
    if (found == nullptr || !found->is_array()) object_.refuse(key, "a list");
    return *found;
  }

  // `count` numbers, 0 or more each.
  std::vector<std::int64_t> numbers(const std::string& key, const Json& list,
                                    std::size_t count) const {
    if (!list.is_array() || list.size() != count)
      object_.refuse(key, fmt::format("lists of {} numbers in it", count));
    std::vector<std::int64_t> numbers;
    for (const Json& value : list)
      numbers.push_back(number(key, value));
    return numbers;
  }

  std::int64_t number(const std::string& key, const Json& value) const {
    if (!value.is_number_integer() || value < 0 || value > kMax)
      object_.refuse(key, "whole numbers of 0 or more in it");
    return value.get<std::int64_t>();
  }

  std::vector<ViewId> views(const std::string& key) const {
    std::vector<ViewId> views;
    for (const Json& value : list(key)) {
      if (!value.is_array()) {
        views.push_back(number(key, value));
        continue;
      }
      const auto range = numbers(key, value, 2);
      if (range[1] < range[0] || range[1] - range[0] > kLongestRange)
        object_.refuse(key, "ranges [first, last] in it");
      for (ViewId view = range[0]; view <= range[1]; ++view)
        views.push_back(view);
    }
    return views;
  }

  std::vector<LeftOut> left_out(const std::string& key) const {
    std::vector<LeftOut> rows;
    for (const Json& value : list(key)) {
      if (!value.is_array() || value.size() != 2 || !value[1].is_string())
        object_.refuse(key, "pairs [view, reason] in it");
      rows.push_back({number(key, value[0]), reason(key, value[1].get<std::string>())});
    }
    return rows;
  }

 private:
  static constexpr std::int64_t kLongestRange = 1 << 24;

  LeftOutReason reason(const std::string& key, const std::string& text) const {
    for (const LeftOutReason reason : kReasons)
      if (text == name(reason)) return reason;
    object_.refuse(key, "reasons that this odb-trainer knows");
  }

  const JsonObjectReader& object_;
};

JsonObjectReader object_of(const JsonObjectReader& reader, const std::string& key) {
  const auto object = reader.object_or_none(key);
  if (!object) reader.refuse(key, "an object");
  return *object;
}

SamplerPosition sampler_of(const JsonObjectReader& state) {
  const JsonObjectReader object = object_of(state, "sampler");
  const ListReader lists(object);
  const auto leftovers = lists.numbers("leftovers", lists.list("leftovers"), 2);
  SamplerPosition position{
      .leftover_begin = leftovers[0], .leftover_end = leftovers[1], .progressions = {}};
  for (const Json& value : lists.list("progressions")) {
    const auto numbers = lists.numbers("progressions", value, 3);
    if (numbers[1] < 1) object.refuse("progressions", "strides of 1 or more in it");
    position.progressions.push_back({.start = numbers[0], .stride = numbers[1], .end = numbers[2]});
  }
  return position;
}

std::vector<WindowEntry> window_of(const JsonObjectReader& state) {
  const ListReader lists(state);
  const std::vector<ViewId> views = lists.views("window");
  const auto sent_back = lists.numbers("sent_back", lists.list("sent_back"), views.size());
  std::vector<WindowEntry> window;
  for (std::size_t i = 0; i < views.size(); ++i)
    window.push_back({.view = views[i], .sent_back = sent_back[i]});
  return window;
}

RoundStart start_of(const JsonObjectReader& state) {
  const auto count = [](const JsonObjectReader& object, const char* key) {
    return object.integer(key, 0, kMax);
  };
  const JsonObjectReader open_step = object_of(state, "open_step");
  return {.epoch = count(state, "epoch"),
          .round = count(state, "round"),
          .next_slot = count(state, "next_slot"),
          .sampler = sampler_of(state),
          .window = window_of(state),
          .fill_target = count(state, "fill_target"),
          .open_step = {.micro_steps = count(open_step, "micro_steps"),
                        .tokens = count(open_step, "tokens"),
                        .samples = count(open_step, "samples")},
          .known_bad = ListReader(state).left_out("known_bad")};
}

StateOwner owner_of(const JsonObjectReader& state) {
  constexpr std::int64_t kMaxRanks = std::numeric_limits<int>::max();
  const Json* seed = state.find("seed");
  if (seed == nullptr || !seed->is_number_unsigned()) state.refuse("seed", "a whole number");
  const auto options = state.text_or_none("options");
  if (!options) state.refuse("options", "a text");
  return {.rank = static_cast<int>(state.integer("rank", 0, kMaxRanks)),
          .world = static_cast<int>(state.integer("world_size", 1, kMaxRanks)),
          .seed = seed->get<std::uint64_t>(),
          .data_size = state.integer("data_size", 0, kMax),
          .options = *options};
}

}  // namespace

std::string to_json(const OwnedState& owned) {
  const auto& [owner, state] = owned;
  const RoundStart& start = state.start;
  std::vector<ViewId> views;
  Json sent_back = Json::array();
  for (const WindowEntry& entry : start.window) {
    views.push_back(entry.view);
    sent_back.push_back(entry.sent_back);
  }
  return lines_of({{"version", kVersion},
                   {"rank", owner.rank},
                   {"world_size", owner.world},
                   {"seed", owner.seed},
                   {"data_size", owner.data_size},
                   {"options", owner.options},
                   {"epoch", start.epoch},
                   {"round", start.round},
                   {"next_slot", start.next_slot},
                   {"slots_taken", state.slots_taken},
                   {"taken", views_json(state.taken)},
                   {"left_out", left_out_json(state.left_out)},
                   {"sampler", sampler_json(start.sampler)},
                   {"fill_target", start.fill_target},
                   {"open_step",
                    {{"micro_steps", start.open_step.micro_steps},
                     {"tokens", start.open_step.tokens},
                     {"samples", start.open_step.samples}}},
                   {"known_bad", left_out_json(start.known_bad)},
                   {"window", views_json(views)},
                   {"sent_back", sent_back}});
}

OwnedState parse_data_state(std::string_view text, const std::string& where) {
  const Json json = parse_strict_object(text, where);
  const JsonObjectReader state(json, where);
  state.require_version(kVersion);
  const ListReader lists(state);
  return {.owner = owner_of(state),
          .state = {.start = start_of(state),
                    .slots_taken = state.integer("slots_taken", 0, kMax),
                    .taken = lists.views("taken"),
                    .left_out = lists.left_out("left_out")}};
}

}  // namespace odb
