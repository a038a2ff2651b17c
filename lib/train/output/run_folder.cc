#include "train/output/run_folder.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/log.h"

namespace odb {
namespace {

// Removed in this order. Entries that must not outlive the rest of an interrupted removal come
// first: a run is recognized by its checkpoints.
constexpr std::array kEntries = {"checkpoints",  "metrics.jsonl", "evaluations.jsonl", "ledger",
                                 "summary.json", "lives.jsonl",   "config.json"};

bool is_event_file(std::string_view name) {
  return name.starts_with("events.out.tfevents.");
}

bool is_entry(const std::string& name) {
  return is_event_file(name) || std::ranges::find(kEntries, name) != kEntries.end();
}

void remove_run(FileSystem& files, const std::string& folder, ExistingRun existing) {
  for (const std::string_view name : kEntries)
    if (existing != ExistingRun::restart || name != "lives.jsonl")
      files.remove_tree(join_path(folder, std::string(name)));
  for (const std::string& name : files.list(folder))
    if (is_event_file(name)) files.remove(folder + "/" + name);
  files.sync_folder(folder);
}

}  // namespace

std::vector<std::string> run_entries(FileSystem& files, const std::string& folder) {
  std::vector<std::string> found;
  if (!files.is_folder(folder)) return found;
  for (const std::string& name : files.list(folder))
    if (is_entry(name)) found.push_back(name);
  return found;
}

bool holds_run(FileSystem& files, const std::string& folder) {
  const RunPaths paths{folder};
  return (files.exists(paths.metrics()) && files.file_size(paths.metrics()) > 0) ||
         (files.is_folder(paths.checkpoints()) && !files.list(paths.checkpoints()).empty());
}

void require_output(FileSystem& files, const std::string& output) {
  if (output.empty())
    throw UsageError("--output is missing; name the folder to write the run into");
  if (files.exists(output) && !files.is_folder(output))
    throw UsageError("--output {}: found a file; expected a folder or an unused name", output);
}

RunFolder::RunFolder(FileSystem& files, const std::string& output, ExistingRun existing,
                     std::string_view config)
    : paths_{output} {
  require_output(files, output);
  files.make_folders(output);
  // A folder that a run has written holds its lock, which is taken before all else.
  if (const auto foreign = run_entries(files, output);
      !foreign.empty() && existing != ExistingRun::resume && !files.exists(paths_.lock()))
    throw UsageError(
        "--output {}: found {} there, but no lock file, so no run has written it; give the run a "
        "folder of its own",
        output, fmt::join(foreign, ", "));
  lock_ = std::make_unique<RunLock>(paths_.lock(), this_owner());
  const std::vector<std::string> found = run_entries(files, output);
  if (existing == ExistingRun::refuse && holds_run(files, output))
    throw UsageError(
        "--output {}: the folder holds a run already ({}), and --resume never was given; leave it "
        "out to go on with that run, give another folder (with --model, a step of {} to train its "
        "weights further), or add --overwrite on to remove that run and start again",
        output, fmt::join(found, ", "), paths_.checkpoints());
  if (existing != ExistingRun::resume && !found.empty()) {
    log("files").info("removing what an earlier start left in {}: {}", output,
                      fmt::join(found, ", "));
    remove_run(files, output, existing);
  }
  files.make_folders(paths_.ledgers());
  files.make_folders(paths_.checkpoints());
  files.write_durably(paths_.config(), config);
}

void describe(OptionTable& table, FileOptions& options) {
  table.group("files");
  table.add("output", options.output).help("folder of the run; created if missing");
  table.add("overwrite", options.overwrite)
      .help(
          "on removes the run that the output folder holds, and starts again; with --resume never");
}

}  // namespace odb
