// The report for programs. Keys are stable.
#include <nlohmann/json.hpp>

#include "data/inspect/data_report.h"

namespace odb {
namespace {

using Json = nlohmann::ordered_json;

Json lengths_json(const LengthSummary& lengths) {
  Json bars = Json::array();
  for (const LengthBar& bar : lengths.histogram)
    bars.push_back({{"from", bar.from}, {"below", bar.below}, {"samples", bar.samples}});
  return {{"shortest", lengths.shortest},
          {"median", lengths.median},
          {"percentile_90", lengths.percentile_90},
          {"percentile_99", lengths.percentile_99},
          {"longest", lengths.longest},
          {"mean", lengths.mean},
          {"cv", lengths.variation},
          {"short_share", lengths.short_share},
          {"histogram", std::move(bars)}};
}

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

Json file_json(const FileReport& file) {
  Json formats = Json::object();
  for (std::size_t i = 0; i < file.rows_by_format.size(); ++i)
    if (file.rows_by_format[i] > 0)
      formats[std::string(name(static_cast<RecordFormat>(i)))] = file.rows_by_format[i];
  return {{"path", file.path},
          {"layout", file.layout},
          {"rows", file.rows},
          {"weight", file.weight},
          {"formats", std::move(formats)}};
}

}  // namespace

std::string report_json(const DataReport& report) {
  Json files = Json::array();
  for (const FileReport& file : report.files)
    files.push_back(file_json(file));
  Json left_out = Json::object();
  for (std::size_t i = 1; i < report.rows_by_reason.size(); ++i)
    left_out[name(kRowReasons[i])] = report.rows_by_reason[i];
  const Json json = {{"files", std::move(files)},
                     {"chat_template", report.chat_template},
                     {"cutoff_len", report.cutoff_length},
                     {"rows", report.rows()},
                     {"trained", report.trained()},
                     {"left_out", std::move(left_out)},
                     {"bad_rows", report.problems},
                     {"tokens", report.tokens},
                     {"supervised_tokens", report.supervised},
                     {"supervised_share", share(report.supervised, report.tokens)},
                     {"truncated_share", share(report.truncated, report.trained())},
                     {"before_cut", lengths_json(report.before_cut)},
                     {"after_cut", lengths_json(report.after_cut)},
                     {"suggested_l_max", report.suggested_l_max},
                     {"suggestion_reason", report.suggestion_reason}};
  // Paths need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace odb
