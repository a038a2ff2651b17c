#include "train/resume.h"

#include "base/error.h"
#include "base/json_reader.h"
#include "train/output/checkpoint_files.h"
#include "train/output/data_state_json.h"
#include "train/output/json_lines.h"
#include "train/session/same_options.h"
#include "train/step/progress.h"

namespace odb {
namespace {

std::int64_t lives_so_far(FileSystem& files, const std::string& path) {
  if (!files.exists(path)) return 0;
  std::int64_t lives = 0;
  for (const Json& line : read_json_lines(files, path))
    lives += line.contains("start") ? 1 : 0;
  return lives;
}

RunState run_state_of(FileSystem& files, const std::string& checkpoint) {
  const std::string path = join_path(checkpoint, "state.json");
  return parse_run_state(files.read_all(path), path);
}

// Without the files of evaluations, which may change.
std::string of_training(const std::string& inputs) {
  Json facts = Json::parse(inputs);
  for (auto fact = facts.begin(); fact != facts.end();)
    fact = fact.key().ends_with("of --eval-data") ? facts.erase(fact) : std::next(fact);
  return facts.dump();
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return path;
}

std::string chosen_checkpoint(FileSystem& files, const RunPaths& paths,
                              const SavingOptions& options) {
  if (options.resume == "never") return "";
  if (is_checkpoint_path(options.resume)) {
    const std::string path = without_slash(options.resume);
    const std::string name = file_name(path);
    const std::string expected = join_path(paths.checkpoints(), name);
    if (!parse_checkpoint_name(name) || !files.exists(expected))
      throw UsageError(
          "--resume {}: found no checkpoint of this run there; expected auto, never, must, or a "
          "folder {}/step-...; to train the weights of another run further, give them as --model",
          options.resume, paths.checkpoints());
    if (const std::string why = why_no_checkpoint(files, expected, Verify::checksums); !why.empty())
      throw FileError(
          "--resume {}: the checkpoint is damaged: {}; --resume auto takes the newest "
          "whole one",
          options.resume, why);
    return expected;
  }
  if (const auto newest = newest_checkpoint(files, paths.checkpoints())) return newest->path;
  if (options.resume == "must")
    throw UsageError(
        "--resume must: found no whole checkpoint in {}; with --resume auto the run begins anew",
        paths.checkpoints());
  return "";
}

}  // namespace

std::string to_json(const ResumePoint& point) {
  return Json{{"checkpoint", point.checkpoint}, {"life", point.life}, {"finished", point.finished}}
      .dump();
}

ResumePoint parse_resume_point(std::string_view text) {
  const Json json = Json::parse(text);
  return {.checkpoint = json.at("checkpoint"),
          .life = json.at("life"),
          .finished = json.at("finished")};
}

ResumePoint find_resume_point(FileSystem& files, const RunPaths& paths,
                              const SavingOptions& options, const RunLimits& limits) {
  ResumePoint point{.checkpoint = chosen_checkpoint(files, paths, options)};
  if (options.resume != "never") point.life = lives_so_far(files, paths.lives());
  if (!point.goes_on()) return point;
  const RunState state = run_state_of(files, point.checkpoint);
  point.finished = state.data_size == limits.data_size && !state.evaluation_open &&
                   Progress(limits, state.totals).done();
  return point;
}

ResumedState read_resumed_state(FileSystem& files, const std::string& checkpoint,
                                const StateOwner& running, const std::string& inputs) {
  const RunState run = run_state_of(files, checkpoint);
  if (run.world_size != running.world)
    throw UsageError(
        "{} was saved by {} ranks, and this run has {}; start it with {} ranks, or begin a new run "
        "in another --output with these weights (--model {})",
        checkpoint, run.world_size, running.world, run.world_size, checkpoint);
  const std::string path = join_path(checkpoint, "data/" + rank_name(running.rank) + ".json");
  const OwnedState saved = parse_data_state(files.read_all(path), path);
  check_same_run(saved.owner, running, path);
  if (!run.inputs.empty())
    if (const std::string different =
            differing_options(of_training(inputs), of_training(run.inputs), "when it was saved");
        !different.empty())
      throw UsageError(
          "{} was saved by a run that read other inputs: {}; give it the same ones, or begin a new "
          "run in another --output with these weights (--model {})",
          checkpoint, different, checkpoint);
  return {.run = run, .data = saved.state};
}

}  // namespace odb
