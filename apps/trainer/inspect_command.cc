// inspect: examines the inputs of a run. `inspect data` makes every record into a sample and
// reports the result; `inspect model` reports what a model folder holds and needs.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "base/error.h"
#include "base/options/command_line.h"
#include "base/progress_bar.h"
#include "base/real_file_system.h"
#include "commands.h"
#include "data/inspect/data_report.h"
#include "data/sample/show_sample.h"
#include "model/model_report.h"

namespace odb {
namespace {

struct InspectOptions {
  DataOptions data;
  std::int64_t show = 0;
  std::int64_t threads = 0;
  bool json = false;
  std::optional<std::filesystem::path> svg;
};

void describe(OptionTable& table, InspectOptions& options) {
  options.data.on_bad_sample = OnBadSample::skip;
  describe(table, options.data);
  table.require({"data", "tokenizer"});
  table.group("inspect");
  table.add("show", options.show)
      .unit("samples")
      .at_least(0)
      .help("print the first N samples as text, supervised tokens marked, instead of the report");
  table.add("threads", options.threads).at_least(0).at_most(1024).help("0: one per core");
  table.add("svg", options.svg).help("also write the length histogram to this file");
  table.add_switch("json", options.json).help("print the report as one JSON object");
}

// Rows that are left out are named in place of a sample.
void show_samples(const SampleSource& source, std::int64_t count) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  const auto builder = source.preprocessor().builder();
  Sample sample;
  for (const RecordFile& file : source.records().files()) {
    for (std::uint64_t row = 0; row < file.rows() && count > 0; ++row, --count) {
      const BuiltSample made = builder->build(file, row, sample);
      if (made.left_out == LeftOutReason::bad_record) {
        fmt::print("--- left out: {}\n", made.problem);
        continue;
      }
      if (made.left_out == LeftOutReason::empty) {
        fmt::print("--- {}: left out: {}\n", file.where(row), name(made.left_out));
        continue;
      }
      const std::string left_out = made.left_out == LeftOutReason::none
                                       ? ""
                                       : fmt::format(", left out: {}", name(made.left_out));
      fmt::print("--- {}: {} tokens, {} supervised{}{}\n", file.where(row), sample.tokens.size(),
                 sample.supervised, sample.truncated ? ", cut" : "", left_out);
      fmt::print("{}\n", show_sample(sample, source.preprocessor().tokenizer(),
                                     terminal ? Highlight::color : Highlight::marks));
    }
  }
}

DataReport inspect(const SampleSource& source, const InspectOptions& options) {
  std::vector<std::vector<RowLength>> lengths;
  std::vector<FileReport> files;
  std::vector<std::string> problems;
  for (const RecordFile& file : source.records().files()) {
    PassFindings findings;
    lengths.push_back(measure_rows(source.preprocessor(), file,
                                   {.threads = static_cast<int>(options.threads),
                                    .progress = terminal_progress("measuring " + file.path())},
                                   &findings));
    store_row_lengths(source, file, lengths.back());
    files.push_back({.path = file.path(),
                     .layout = file.index().layout == RecordLayout::array ? "array" : "lines",
                     .rows = file.rows(),
                     .weight = source.records().weight(files.size()),
                     .rows_by_format = std::move(findings.rows_by_format)});
    problems.insert(problems.end(), findings.problems.begin(), findings.problems.end());
  }
  DataReport report = make_report(lengths, options.data.cutoff_len);
  report.files = std::move(files);
  report.problems = std::move(problems);
  report.chat_template = source.preprocessor().template_name();
  return report;
}

int inspect_data(const Arguments& arguments) {
  InspectOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{
      .name = "inspect data",
      .summary =
          "Makes every record into a sample, as training would, and reports the result: formats, "
          "rows left out with their reasons, lengths, how much is supervised or cut, and a token "
          "budget that fits. Stores the lengths for batching strategies that need them. Exit code "
          "0, or 3 if no sample can be trained."};
  if (!parse_command_line(table, usage, arguments)) return 0;

  // Opened first, so that a path that cannot be written ends the command before its work.
  RealFileSystem files;
  std::optional<OutputFile> svg;
  if (options.svg && options.show == 0) svg = files.create(options.svg->string());
  const SampleSource source(
      files, options.data, 0,
      {.threads = static_cast<int>(options.threads), .progress = terminal_progress("indexing")});
  source.preprocessor().log_choices();
  if (options.show > 0) {
    show_samples(source, options.show);
    return 0;
  }
  const DataReport report = inspect(source, options);
  fmt::print("{}", options.json ? report_json(report) : report_text(report));
  if (svg) {
    svg->write(report_svg(report));
    svg->close();
  }
  if (report.trained() > 0) return 0;
  throw DataError("no sample can be trained: all {} rows are left out", report.rows());
}

struct InspectModelOptions {
  ModelOptions model;
  std::int64_t l_max = 8192;
  bool json = false;
};

int inspect_model(const Arguments& arguments) {
  InspectModelOptions options;
  OptionTable table;
  describe(table, options.model);
  table.group("inspect");
  table.add("l-max", options.l_max)
      .unit("tokens")
      .at_least(1)
      .at_most(std::int64_t{1} << 40)
      .help("size of a micro-batch, for the memory that training takes");
  table.add_switch("json", options.json).help("print the report as one JSON object");
  const CommandUsage usage{.name = "inspect model",
                           .summary =
                               "Reports what a model folder holds: architecture, parameters, "
                               "files, the memory that a rank needs to train it by part, and what "
                               "is missing or wrong. Exit code 0, or 4 if the model cannot be "
                               "loaded.",
                           .positional = "DIR",
                           .takes_config = false};
  const auto positional = parse_command_line(table, usage, arguments);
  if (!positional) return 0;
  if (positional->size() > 1)
    throw UsageError("inspect model: '{}': expected one folder", positional->at(1));
  if (!positional->empty() && !options.model.model.empty())
    throw UsageError("inspect model: --model {} and '{}': expected one folder", options.model.model,
                     positional->front());
  if (!positional->empty()) options.model.model = positional->front();
  if (options.model.model.empty())
    throw UsageError("inspect model: DIR is missing; expected one folder");

  RealFileSystem files;
  const ModelReport report =
      inspect_model(files, options.model.model, options.model, options.l_max);
  fmt::print("{}", options.json ? report_json(report) : report_text(report));
  if (report.check.problems.empty()) return 0;
  throw FileError("{}: the model cannot be loaded: {}", report.folder,
                  report.check.problems.front());
}

}  // namespace

int inspect_command(const Arguments& arguments) {
  const Arguments rest(arguments.empty() ? arguments.end() : arguments.begin() + 1,
                       arguments.end());
  if (!arguments.empty() && arguments[0] == "data") return inspect_data(rest);
  if (!arguments.empty() && arguments[0] == "model") return inspect_model(rest);
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    fmt::print(
        "odb-trainer inspect WHAT [options]\n\n  data   what the records become: "
        "odb-trainer inspect data --help\n"
        "  model  what a model folder holds: odb-trainer inspect model --help\n");
    return 0;
  }
  throw UsageError(
      "inspect: {}; expected data or model",
      arguments.empty() ? "WHAT is missing" : fmt::format("unknown '{}'", arguments[0]));
}

}  // namespace odb
