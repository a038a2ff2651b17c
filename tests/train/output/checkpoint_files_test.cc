#include "train/output/checkpoint_files.h"

#include <cerrno>
#include <map>

#include "base/error.h"
#include "catch.h"
#include "faulty_file_system.h"

using namespace odb;

namespace {

const std::string kFolder = "/run/checkpoints";

// What a checkpoint of a step holds, by name. No two steps have a file in common.
std::map<std::string, std::string> contents_of(std::int64_t step) {
  return {{"config.json", fmt::format("{{\"step\": {}}}", step)},
          {"data/rank-00000.json", fmt::format("rank 0 at {}", step)},
          {"data/rank-00001.json", fmt::format("rank 1 at {}", step)},
          {"model.safetensors", std::string(3000, static_cast<char>('a' + step % 20))},
          {"optimizer/state.safetensors", std::string(2000, static_cast<char>('A' + step % 20))},
          {"state.json", fmt::format("state {}", step)}};
}

// Rank 0 saves, rank 1 adds its data state.
void save(FileSystem& files, std::int64_t step) {
  CheckpointDraft draft = CheckpointDraft::begin(files, kFolder, step);
  CheckpointDraft other = CheckpointDraft::join(files, kFolder, step);
  for (const auto& [name, bytes] : contents_of(step))
    (name == "data/rank-00001.json" ? other : draft).write(name, bytes);
  draft.publish();
}

std::string path_of(std::int64_t step) {
  return kFolder + "/" + checkpoint_name(step);
}

std::vector<std::int64_t> valid_steps(FileSystem& files, Verify verify = Verify::checksums) {
  std::vector<std::int64_t> steps;
  for (const CheckpointFound& found : list_checkpoints(files, kFolder, verify).valid)
    steps.push_back(found.step);
  return steps;
}

using Steps = std::vector<std::int64_t>;

// Whether every folder that passes as a checkpoint, even in the quick check, holds what was saved.
void check_all_right(FileSystem& files) {
  for (const std::int64_t step : valid_steps(files, Verify::sizes))
    for (const auto& [name, bytes] : contents_of(step)) {
      INFO("step " << step << " " << name);
      CHECK(files.read_all(path_of(step) + "/" + name) == bytes);
    }
}

std::string why(FileSystem& files, std::int64_t step, Verify verify = Verify::checksums) {
  return why_no_checkpoint(files, path_of(step), verify);
}

}  // namespace

TEST_CASE("A checkpoint is what was saved, and lists it") {
  FaultyFileSystem files;
  save(files, 100);
  CHECK(why(files, 100).empty());
  CHECK(files.list(kFolder) == std::vector<std::string>{"step-00000100"});
  const Manifest manifest =
      parse_manifest(files.read_all(path_of(100) + "/MANIFEST.json"), "MANIFEST.json");
  CHECK(manifest.step == 100);
  REQUIRE(manifest.files.size() == 6);
  CHECK(manifest.files[1].name == "data/rank-00000.json");
  CHECK(manifest.files[1].size == 13);
  check_all_right(files);
}

TEST_CASE("Names of checkpoints") {
  CHECK(checkpoint_name(100) == "step-00000100");
  CHECK(checkpoint_name(1234567890) == "step-1234567890");
  CHECK(parse_checkpoint_name("step-00000100") == 100);
  CHECK(parse_checkpoint_name("step-1234567890") == 1234567890);
  for (const char* wrong : {"step-100", "step-00000100.tmp", "step-", "step-0000010x", "00000100",
                            "step--0000100", "step-000000100"})
    CHECK_FALSE(parse_checkpoint_name(wrong));
}

TEST_CASE("Equal files give equal bytes of a whole checkpoint") {
  FaultyFileSystem a;
  FaultyFileSystem b;
  save(a, 100);
  save(b, 100);
  CHECK(a.contents() == b.contents());
}

TEST_CASE("A damaged folder is not a checkpoint, and the one before it is found") {
  const std::string big = path_of(100) + "/model.safetensors";
  struct Damage {
    std::string kind;
    std::function<void(FileSystem&)> done;
    std::string said;
  };
  const auto every_file = [](const std::function<void(std::string)>& act) {
    for (const auto& [name, bytes] : contents_of(100))
      act(path_of(100) + "/" + name);
    act(path_of(100) + "/MANIFEST.json");
  };
  const std::vector<Damage> damages = {
      {"biggest file cut in half", [&](FileSystem& files) { files.truncate(big, 1500); },
       "model.safetensors has 1500 bytes, expected 3000"},
      {"smallest file missing",
       [&](FileSystem& files) { files.remove(path_of(100) + "/state.json"); },
       "state.json is missing"},
      {"manifest missing",
       [&](FileSystem& files) { files.remove(path_of(100) + "/MANIFEST.json"); },
       "MANIFEST.json is missing"},
      {"all files zero bytes",
       [&](FileSystem& files) {
         every_file([&](const std::string& path) { files.truncate(path, 0); });
       },
       "MANIFEST.json"},
      {"one byte flipped",
       [&](FileSystem& files) {
         std::string bytes = files.read_all(big);
         bytes[bytes.size() - 3] ^= 0x40;
         files.write_durably(big, bytes);
       },
       "model.safetensors has checksum"},
      {"empty folder",
       [&](FileSystem& files) {
         files.remove_tree(path_of(100));
         files.make_folders(path_of(100));
       },
       "MANIFEST.json is missing"},
      {"left over staging",
       [&](FileSystem& files) { files.rename(path_of(100), path_of(100) + ".tmp"); },
       "not finished"},
      {"a folder in place of a file",
       [&](FileSystem& files) {
         files.remove(big);
         files.make_folders(big);
       },
       "is a folder"},
      {"another step's folder under this name",
       [&](FileSystem& files) {
         save(files, 101);
         files.remove_tree(path_of(100));
         files.rename(path_of(101), path_of(100));
       },
       "MANIFEST.json is of step 101"},
  };
  for (const Damage& damage : damages) {
    INFO(damage.kind);
    FaultyFileSystem files;
    save(files, 50);
    save(files, 100);
    damage.done(files);
    CHECK(valid_steps(files) == Steps{50});
    const CheckpointList list = list_checkpoints(files, kFolder, Verify::checksums);
    REQUIRE(list.skipped.size() == 1);
    CHECK_THAT(list.skipped[0].path, Catch::StartsWith(path_of(100)));
    CHECK_THAT(list.skipped[0].reason, Catch::Contains(damage.said));
    CHECK(newest_checkpoint(files, kFolder) == CheckpointFound{50, path_of(50)});
  }
}

TEST_CASE("Any byte flipped or cut off in any file is found") {
  FaultyFileSystem files;
  save(files, 7);
  for (const std::string& name : {std::string("MANIFEST.json"), std::string("config.json"),
                                  std::string("data/rank-00001.json")}) {
    const std::string path = path_of(7) + "/" + name;
    const std::string good = files.read_all(path);
    for (std::size_t at = 0; at < good.size(); ++at) {
      INFO(name << " at " << at);
      std::string bytes = good;
      bytes[at] ^= 0x40;
      files.write_durably(path, bytes);
      CHECK_FALSE(why(files, 7).empty());
      // Without its last line feed a manifest is still whole.
      if (name == "MANIFEST.json" && at + 1 == good.size()) continue;
      files.write_durably(path, good.substr(0, at));
      CHECK_FALSE(why(files, 7, Verify::sizes).empty());
    }
    files.write_durably(path, good);
  }
  CHECK(why(files, 7).empty());
}

TEST_CASE("A manifest that leads out of its folder, or lists nothing, is refused") {
  const Manifest good{.step = 3, .files = {{.name = "a/b", .size = 1, .xxh3 = "00"}}};
  CHECK(parse_manifest(to_json(good), "m") == good);
  for (const char* name :
       {"", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "MANIFEST.json"}) {
    Manifest wrong = good;
    wrong.files[0].name = name;
    CHECK_THROWS_AS(parse_manifest(to_json(wrong), "m"), FileError);
  }
  Manifest empty = good;
  empty.files.clear();
  CHECK_THROWS_AS(parse_manifest(to_json(empty), "m"), FileError);
  Manifest twice = good;
  twice.files.push_back(good.files[0]);
  CHECK_THROWS_WITH(parse_manifest(to_json(twice), "m"), Catch::Contains("twice"));
  CHECK_THROWS_WITH(parse_manifest("{\"version\": 2, \"step\": 3, \"files\": []}", "m"),
                    Catch::Contains("version 2"));
}

TEST_CASE("Checkpoints are listed newest first, and other names are passed over") {
  FaultyFileSystem files;
  CHECK(list_checkpoints(files, kFolder, Verify::checksums).valid.empty());
  CHECK_FALSE(newest_checkpoint(files, kFolder));
  for (const std::int64_t step : {30, 10, 20})
    save(files, step);
  files.make_folders(kFolder + "/mine");
  files.create(kFolder + "/step-00000040");  // a file
  CHECK(valid_steps(files) == Steps{30, 20, 10});
  CHECK(list_checkpoints(files, kFolder, Verify::checksums).skipped ==
        std::vector<CheckpointSkipped>{{path_of(40), "it is not a folder"}});
}

TEST_CASE("A save in which a rank's file does not arrive is refused") {
  FaultyFileSystem files;
  CheckpointDraft draft = CheckpointDraft::begin(files, kFolder, 3);
  draft.write("state.json", "state");
  draft.write("data/rank-00000.json", "0");
  CHECK_THROWS_WITH(draft.publish({"data/rank-00000.json", "data/rank-00001.json"}),
                    Catch::Contains("data/rank-00001.json is missing"));
  CHECK(valid_steps(files).empty());
  draft.write("data/rank-00001.json", "1");
  draft.publish({"data/rank-00000.json", "data/rank-00001.json"});
  CHECK(valid_steps(files) == Steps{3});
}

TEST_CASE("A save never writes into a checkpoint, but replaces a broken one") {
  FaultyFileSystem files;
  save(files, 100);
  CHECK_THROWS_WITH(CheckpointDraft::begin(files, kFolder, 100),
                    Catch::Contains("not overwritten"));
  files.remove(path_of(100) + "/state.json");
  save(files, 100);
  CHECK(why(files, 100).empty());
  // A run that skipped a damaged one reaches its step again.
  files.write_durably(path_of(100) + "/state.json", "State 100");
  CHECK(why(files, 100, Verify::sizes).empty());
  save(files, 100);
  CHECK(why(files, 100).empty());
}

TEST_CASE("What an interrupted save left is not in the next one of the same step") {
  FaultyFileSystem files;
  CheckpointDraft::begin(files, kFolder, 100).write("left/over.bin", "x");
  save(files, 100);
  CHECK_FALSE(files.exists(path_of(100) + "/left"));
  CHECK(files.list(kFolder).size() == 1);
}

TEST_CASE("Pruning keeps the newest, the best and what it does not know") {
  FaultyFileSystem files;
  for (const std::int64_t step : {10, 20, 30, 40, 50})
    save(files, step);
  files.remove(path_of(40) + "/state.json");  // broken
  files.make_folders(path_of(15) + ".tmp");   // older than the newest valid one
  files.make_folders(path_of(60) + ".tmp");   // being written
  files.make_folders(kFolder + "/mine");
  CHECK(prune_checkpoints(files, kFolder, 0).empty());
  CHECK(prune_checkpoints(files, kFolder, 2, {10}) ==
        std::vector<std::string>{path_of(20), path_of(15) + ".tmp"});
  CHECK(files.list(kFolder) == std::vector<std::string>{"mine", "step-00000010", "step-00000030",
                                                        "step-00000040", "step-00000050",
                                                        "step-00000060.tmp"});
  CHECK(prune_checkpoints(files, kFolder, 1) == std::vector<std::string>{path_of(30), path_of(10)});
  CHECK(valid_steps(files) == Steps{50});
}

TEST_CASE("Nothing is pruned where nothing is valid") {
  FaultyFileSystem files;
  files.make_folders(path_of(20) + ".tmp");
  CHECK(prune_checkpoints(files, kFolder, 1).empty());
  CHECK(files.exists(path_of(20) + ".tmp"));
}

// The main guarantee: whatever dies at whatever moment, nothing passes as a checkpoint that is not
// one, and there is one to continue from.
TEST_CASE("A crash at any moment of saving and pruning leaves valid checkpoints only") {
  bool saved = false;
  const std::size_t crashes = for_every_crash(
      [](FileSystem& files) {
        save(files, 1);
        save(files, 2);
      },
      [&](FileSystem& files) {
        saved = false;
        save(files, 3);
        saved = true;
        prune_checkpoints(files, kFolder, 1);
      },
      [&](FaultyFileSystem& files, std::size_t step, Unsynced unsynced) {
        INFO("crash at " << step << ", unsynced " << name(unsynced));
        check_all_right(files);
        const auto newest = newest_checkpoint(files, kFolder);
        REQUIRE(newest);
        CHECK(newest->step >= (saved ? 3 : 2));
        // The next life goes on, saves and prunes as if nothing had been.
        if (newest->step == 2) save(files, 3);
        prune_checkpoints(files, kFolder, 1);
        CHECK(files.list(kFolder) == std::vector<std::string>{"step-00000003"});
        check_all_right(files);
      });
  CHECK(crashes > 40);
}

TEST_CASE("Replacing a broken checkpoint is safe at any moment, too") {
  for_every_crash(
      [](FileSystem& files) {
        save(files, 2);
        save(files, 3);
        files.remove(path_of(3) + "/state.json");
        files.sync_folder(path_of(3));
      },
      [](FileSystem& files) { save(files, 3); },
      [](FaultyFileSystem& files, std::size_t step, Unsynced unsynced) {
        INFO("crash at " << step << ", unsynced " << name(unsynced));
        check_all_right(files);
        REQUIRE(newest_checkpoint(files, kFolder));
      });
}

TEST_CASE("A full disk at any byte is reported, harms nothing, and a later save succeeds") {
  std::size_t failures = 0;
  for (std::uint64_t room = 0;; room += 97) {
    FaultyFileSystem files;
    save(files, 1);
    const std::uint64_t used = (std::uint64_t{1} << 40) - [&] {
      files.set_capacity(std::uint64_t{1} << 40);
      return files.free_space("/").value();
    }();
    files.set_capacity(used + room);
    bool failed = false;
    try {
      save(files, 2);
    } catch (const FileError& error) {
      failed = true;
      CHECK_THAT(error.what(), Catch::Contains("free some space"));
    }
    check_all_right(files);
    CHECK(valid_steps(files) == (failed ? Steps{1} : Steps{2, 1}));
    if (!failed) break;
    ++failures;
    files.set_capacity(std::uint64_t{1} << 40);
    save(files, 2);
    CHECK(valid_steps(files) == Steps{2, 1});
  }
  CHECK(failures > 30);
}

TEST_CASE("Short and interrupted calls change nothing") {
  FaultyFileSystem plain;
  save(plain, 1);
  FaultyFileSystem files;
  files.limit_each_call(7);
  files.interrupt_calls();
  save(files, 1);
  CHECK(files.contents() == plain.contents());
  CHECK(why(files, 1).empty());
}

TEST_CASE("Any single call that fails is reported, and leaves valid checkpoints only") {
  using Call = FaultyFileSystem::Call;
  struct Fault {
    Call call;
    std::string path;
  };
  std::vector<Fault> faults = {
      {Call::rename, "step-00000002.tmp"}, {Call::rename, "MANIFEST"},
      {Call::sync_folder, "checkpoints"},  {Call::make_folder, "optimizer"},
      {Call::read, "model.safetensors"},   {Call::list, "step-00000002.tmp"},
      {Call::status, "step-00000002.tmp"}};
  for (const char* name : {"model.safetensors", "state.json", "rank-00001.json", "MANIFEST.json"})
    for (const Call call : {Call::open, Call::write, Call::sync, Call::close})
      faults.push_back({call, std::string("step-00000002.tmp/") +
                                  (std::string(name).starts_with("rank") ? "data/" : "") + name});
  for (const Fault& fault : faults) {
    INFO("call " << static_cast<int>(fault.call) << " on " << fault.path);
    FaultyFileSystem files;
    save(files, 1);
    files.fail_next(fault.call, EIO, fault.path);
    CHECK_THROWS_AS(save(files, 2), FileError);
    check_all_right(files);
    CHECK(newest_checkpoint(files, kFolder));
  }
}
