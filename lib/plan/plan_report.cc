#include "plan/plan_report.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace odb {
namespace {

using Cell = std::function<std::string(const PlanRow&)>;

struct Column {
  std::string heading;
  Cell cell;
  bool left = false;  // aligned left
};

std::string percent(double fraction) {
  return fmt::format("{:.2f} %", 100 * fraction);
}

std::vector<Column> columns(const PlanOptions& options) {
  std::vector<Column> all = {
      {"strategy", [](const PlanRow& row) { return row.name; }, true},
      {"layout", [](const PlanRow& row) { return name(row.options.layout); }, true}};
  for (const SweptOption& option : swept_options(options))
    all.push_back({option.name, [of_row = option.of_row](const PlanRow& row) {
                     return fmt::format("{}", of_row(row));
                   }});
  const std::vector<Column> results = {
      {"steps", [](const PlanRow& row) { return fmt::format("{}", row.result.steps); }},
      {"padding", [](const PlanRow& row) { return percent(row.result.padding_fraction); }},
      {"fill", [](const PlanRow& row) { return percent(row.result.budget_fill); }},
      {"idle", [](const PlanRow& row) { return percent(row.result.idle_fraction); }},
      {"straggler", [](const PlanRow& row) { return percent(row.result.straggler_fraction); }},
      {"data wait", [](const PlanRow& row) { return percent(row.result.data_wait_fraction); }},
      {"tokens CV",
       [](const PlanRow& row) { return fmt::format("{:.3f}", row.result.tokens_per_step_cv); }},
      {"bias", [](const PlanRow& row) { return fmt::format("{:+.3f}", row.result.length_bias); }},
      {"largest", [](const PlanRow& row) { return fmt::format("{}", row.result.largest_group); }},
      {"seconds", [](const PlanRow& row) { return fmt::format("{:.1f}", row.result.seconds); }},
      {"speed-up",
       [](const PlanRow& row) { return fmt::format("{:.2f}x", row.speedup_over_standard); }}};
  all.insert(all.end(), results.begin(), results.end());
  return all;
}

nlohmann::ordered_json row_json(const PlanRow& row) {
  const BatchingOptions& options = row.options;
  const SimulationResult& result = row.result;
  return {{"name", row.name},
          {"batching", name(options.strategy)},
          {"layout", name(options.layout)},
          {"grouping", options.strategy == Strategy::odb
                           ? nlohmann::ordered_json(name(options.grouping))
                           : nlohmann::ordered_json(nullptr)},
          {"ranks", row.ranks},
          {"l_max", options.l_max},
          {"window", options.window},
          {"round_groups", options.round_groups},
          {"depth", row.depth},
          {"pad_multiple", options.pad_multiple},
          {"batch_size", options.batch_size},
          {"samples", result.samples},
          {"tokens", result.tokens},
          {"positions", result.positions},
          {"rounds", result.rounds},
          {"steps", result.steps},
          {"tail_steps", result.tail_steps},
          {"groups", result.groups},
          {"largest_group", result.largest_group},
          {"padding_fraction", result.padding_fraction},
          {"budget_fill", result.budget_fill},
          {"budget_fill_before_tail", result.budget_fill_before_tail},
          {"idle_fraction", result.idle_fraction},
          {"straggler_fraction", result.straggler_fraction},
          {"idle_time_fraction", result.idle_time_fraction},
          {"data_wait_fraction", result.data_wait_fraction},
          {"seconds", result.seconds},
          {"tokens_per_second", result.tokens_per_second},
          {"speedup_over_standard", row.speedup_over_standard},
          {"tokens_per_step_cv", result.tokens_per_step_cv},
          {"mean_length", result.mean_length},
          {"length_bias", result.length_bias},
          {"first_tenth_length", result.first_tenth_length},
          {"last_tenth_length", result.last_tenth_length}};
}

}  // namespace

std::string plan_table(const PlanOptions& options, const std::vector<PlanRow>& rows) {
  const std::vector<Column> all = columns(options);
  std::vector<std::vector<std::string>> lines(rows.size() + 1);
  std::vector<std::size_t> widths;
  for (const Column& column : all) {
    lines[0].push_back(column.heading);
    for (std::size_t i = 0; i < rows.size(); ++i)
      lines[i + 1].push_back(column.cell(rows[i]));
    std::size_t width = 0;
    for (const auto& line : lines)
      width = std::max(width, line.back().size());
    widths.push_back(width);
  }
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool new_strategy = i > 1 && rows[i - 1].name != rows[i - 2].name;
    if (new_strategy && !swept_options(options).empty()) text += '\n';
    std::string line;
    for (std::size_t c = 0; c < all.size(); ++c)
      line += all[c].left ? fmt::format("{:<{}}  ", lines[i][c], widths[c])
                          : fmt::format("{:>{}}  ", lines[i][c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string plan_json(const PlanOptions& options, const std::vector<PlanRow>& rows) {
  const StepTime& time = options.step_time;
  nlohmann::ordered_json strategies = nlohmann::ordered_json::array();
  for (const PlanRow& row : rows)
    strategies.push_back(row_json(row));
  const nlohmann::ordered_json document = {{"lengths", options.lengths},
                                           {"seed", options.seed},
                                           {"align", name(options.align)},
                                           {"mates", name(options.pair_by)},
                                           {"join", options.join},
                                           {"step_time",
                                            {{"seconds_per_slot", time.seconds_per_slot},
                                             {"seconds_per_position", time.seconds_per_position},
                                             {"seconds_per_square", time.seconds_per_square},
                                             {"gradient_bytes", time.gradient_bytes},
                                             {"link_bytes_per_second", time.link_bytes_per_second},
                                             {"latency_seconds", time.latency_seconds}}},
                                           {"data_workers", options.data_workers},
                                           {"seconds_per_sample", options.seconds_per_sample},
                                           {"strategies", strategies}};
  return document.dump(2) + '\n';
}

}  // namespace odb
