#include "run_verdict.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "texts.h"
#include "train/output/ledger_file.h"

namespace odb {
namespace {

constexpr std::size_t kLastLines = 25;

// Without the configuration, which is printed over many lines.
std::string last_lines(const std::string& text) {
  auto lines = split_lines(text);
  std::erase_if(lines, [](std::string_view line) {
    return line.empty() || std::string_view(" {}").find(line.front()) != std::string_view::npos;
  });
  std::string last;
  for (std::size_t i = lines.size() - std::min(lines.size(), kLastLines); i < lines.size(); ++i)
    last += fmt::format("    {}\n", lines[i]);
  return last;
}

template <typename Numbers>
std::string list(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers)
    text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

// A process that ends early says why. Where the run was saved only rank 0 says so.
bool has_message(const TrainerRun& run, int process, int code) {
  if (code == static_cast<int>(ExitCode::saved)) return count_of(run.lines(0), "saved ") > 0;
  const std::string lines = run.lines(process);  // its last one, or where another rank is lost
  return count_of(lines, "odb-trainer: ") + count_of(lines, " error: ") > 0;
}

void judge_codes(const TrainerRun& run, const ExpectedRun& expected, RunVerdict& verdict) {
  for (std::size_t i = 0; i < verdict.codes.size(); ++i) {
    const int code = verdict.codes[i];
    if (code == 0) continue;
    if (!expected.codes.contains(code))
      verdict.errors.push_back(fmt::format("process {} ended with {}, expected 0 or one of {}", i,
                                           code, list(expected.codes)));
    else if (code > 0 && !has_message(run, static_cast<int>(i), code))
      verdict.errors.push_back(fmt::format("process {} ended with {} without a message", i, code));
  }
}

void judge_epoch(std::int64_t number, const EpochCoverage& epoch, RunVerdict& verdict) {
  std::string left_out;
  for (const auto& [reason, count] : epoch.left_out)
    left_out += fmt::format(" ({} {})", count, name(reason));
  verdict.report +=
      fmt::format("  epoch {}: {} trained, left out:{}, {} repeated ({}), {} missing ({})\n",
                  number, epoch.trained, left_out, epoch.repeated, list(epoch.repeated_examples),
                  epoch.missing, list(epoch.missing_examples));
  if (epoch.repeated > 0)
    verdict.errors.push_back(fmt::format("epoch {}: {} views came again", number, epoch.repeated));
  if (verdict.exact && epoch.missing > 0)
    verdict.errors.push_back(
        fmt::format("exit code 0, but epoch {} lacks {} views", number, epoch.missing));
}

void judge_views(const TrainerRun& run, const ExpectedRun& expected, RunVerdict& verdict) {
  RealFileSystem files;
  const bool began = verdict.exact || run.logged_steps() > 0;
  if (!began && !files.exists(run.paths().ledger(0))) return;  // it ended in its start
  const auto epochs = ledger_coverage(files, run.paths().ledgers(), expected.data_size);
  for (const auto& [number, epoch] : epochs)
    judge_epoch(number, epoch, verdict);
  if (verdict.exact && static_cast<std::int64_t>(epochs.size()) != expected.epochs)
    verdict.errors.push_back(fmt::format("exit code 0, but the ledgers have {} epochs, expected {}",
                                         epochs.size(), expected.epochs));
}

}  // namespace

RunVerdict judge_run(TrainerRun& run, const ExpectedRun& expected) {
  RunVerdict verdict;
  const bool ended = holds_in_time([&] {
    const std::size_t processes = run.codes().size();
    bool all = true;
    for (std::size_t i = 0; i < processes; ++i)
      all = run.ended(static_cast<int>(i)) && all;
    return all;
  });
  verdict.codes = run.codes();
  verdict.report = fmt::format("  exit codes: {}\n", list(verdict.codes));
  if (!ended) verdict.errors.emplace_back("the run does not end");
  judge_codes(run, expected, verdict);
  // A rank that leaves with 0 says that all is done, whatever ended the others.
  verdict.exact = ended && std::ranges::count(verdict.codes, 0) > 0;
  try {
    judge_views(run, expected, verdict);
  } catch (const Error& error) {
    verdict.errors.emplace_back(error.what());
  }
  verdict.exact = verdict.exact && verdict.ended_with(0) && verdict.errors.empty();
  for (std::size_t i = 0; i < verdict.codes.size(); ++i)
    verdict.report += fmt::format("  process {} logged at last:\n{}", i,
                                  last_lines(run.lines(static_cast<int>(i))));
  for (const std::string& error : verdict.errors)
    verdict.report += "  ERROR: " + error + "\n";
  return verdict;
}

}  // namespace odb
