// Where a run goes on: which checkpoint is chosen, and what is refused.
#include "train/resume.h"

#include "base/error.h"
#include "catch.h"
#include "faulty_file_system.h"
#include "train/output/checkpoint_files.h"
#include "train/output/data_state_json.h"

using namespace odb;

namespace {

const RunPaths kPaths{"/run"};
const StateOwner kOwner{.rank = 1, .world = 2, .seed = 3, .data_size = 10, .options = "l-max=64"};
const std::string kInputs = R"({"file 1 of --data":"7 rows","file 1 of --eval-data":"2 rows"})";

RunState state_at(std::int64_t step) {
  return {.totals = {.epoch_views = step, .steps = step},
          .world_size = 2,
          .seed = 3,
          .data_size = 10,
          .options = "l-max=64",
          .inputs = kInputs};
}

void save(FileSystem& files, const RunState& state) {
  CheckpointDraft draft = CheckpointDraft::begin(files, kPaths.checkpoints(), state.totals.steps);
  draft.write("state.json", to_json(state));
  DataState data;
  data.start.round = state.totals.steps;
  draft.write("data/rank-00001.json", to_json(OwnedState{.owner = kOwner, .state = data}));
  draft.publish();
}

ResumePoint found(FileSystem& files, const std::string& resume, std::int64_t max_steps = 9) {
  return find_resume_point(files, kPaths, {.resume = resume},
                           {.data_size = 10, .steps = max_steps});
}

std::string path_of(std::int64_t step) {
  return kPaths.checkpoints() + "/" + checkpoint_name(step);
}

}  // namespace

TEST_CASE("resume: the newest whole checkpoint is taken, unless another is asked for") {
  FaultyFileSystem files;
  files.make_folders(kPaths.checkpoints());
  CHECK(found(files, "auto") == ResumePoint{});
  CHECK_THROWS_WITH(found(files, "must"), Catch::Contains("found no whole checkpoint"));
  save(files, state_at(3));
  save(files, state_at(6));
  CHECK(found(files, "auto").checkpoint == path_of(6));
  CHECK(found(files, "must").checkpoint == path_of(6));
  CHECK(found(files, "never").checkpoint.empty());
  CHECK(found(files, path_of(3) + "/").checkpoint == path_of(3));
  CHECK_THROWS_WITH(found(files, "/run/checkpoints/step-00000004"),
                    Catch::Contains("found no checkpoint of this run there"));
  files.write_durably(path_of(6) + "/state.json", "{}");
  CHECK(found(files, "auto").checkpoint == path_of(3));
  CHECK_THROWS_AS(found(files, path_of(6)), FileError);
}

TEST_CASE("resume: a run is finished at its limit, if its evaluation has run") {
  FaultyFileSystem files;
  files.make_folders(kPaths.checkpoints());
  save(files, state_at(9));
  CHECK(found(files, "auto", 9).finished);
  CHECK_FALSE(found(files, "auto", 10).finished);
  RunState open = state_at(10);
  open.evaluation_open = true;
  save(files, open);
  CHECK_FALSE(found(files, "auto", 10).finished);
}

TEST_CASE("resume: lives are counted, and the point travels as text") {
  FaultyFileSystem files;
  files.make_folders(kPaths.folder);
  files.write_durably(kPaths.lives(),
                      "{\"life\":0,\"start\":\"a\"}\n{\"life\":0,\"end\":\"b\"}\n"
                      "{\"life\":1,\"start\":\"c\"}\n");
  const ResumePoint point = found(files, "auto");
  CHECK(point.life == 2);
  CHECK(parse_resume_point(to_json(point)) == point);
  const ResumePoint other{.checkpoint = "/run/x", .life = 5, .finished = true};
  CHECK(parse_resume_point(to_json(other)) == other);
}

TEST_CASE("resume: a state of another run is refused with what differs") {
  FaultyFileSystem files;
  files.make_folders(kPaths.checkpoints());
  save(files, state_at(4));
  const auto read = [&](const StateOwner& owner, const std::string& inputs) {
    return read_resumed_state(files, path_of(4), owner, inputs);
  };
  CHECK(read(kOwner, kInputs).run == state_at(4));
  CHECK(read(kOwner, kInputs).data.start.round == 4);
  // Evaluations may change.
  CHECK_NOTHROW(read(kOwner, R"({"file 1 of --data":"7 rows"})"));
  CHECK_THROWS_WITH(read(kOwner, R"({"file 1 of --data":"8 rows"})"),
                    Catch::Contains("8 rows") && Catch::Contains("7 rows"));
  StateOwner owner = kOwner;
  owner.world = 3;
  CHECK_THROWS_WITH(read(owner, kInputs), Catch::Contains("saved by 2 ranks, and this run has 3"));
  owner = kOwner;
  owner.seed = 4;
  CHECK_THROWS_WITH(read(owner, kInputs), Catch::Contains("--seed 3"));
  owner = kOwner;
  owner.options = "l-max=65";
  CHECK_THROWS_WITH(read(owner, kInputs), Catch::Contains("l-max=64"));
}
