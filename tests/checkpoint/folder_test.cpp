#include "checkpoint/saved_by_hand.h"
#include "storage/content.h"
#include "storage/faulty_file_system.h"

#include <gtest/gtest.h>

namespace cohort::checkpoint {
namespace {

using test::HandSaver;
using test::RankState;

using Names = std::vector<std::string>;

constexpr std::uint64_t kSeeds = 5;

RankState small_state(int version) {
  RankState state;
  state.add({.name = "w", .shape = {300}}, whole({300}));
  state.fill(version);
  return state;
}

// Full snapshots of steps 1, 2, …; the state of step s is version s.
Status save(FileSystem& files, const std::string& folder, int last_step) {
  HandSaver saver(files, folder);
  for (int step = 1; step <= last_step; ++step) {
    std::vector<RankState> ranks{small_state(step)};
    COHORT_RETURN_IF_ERROR(saver.save_full(ranks, step));
  }
  return {};
}

// The steps of the snapshots that are listed; each of them must load.
std::vector<int> steps_in(FileSystem& files, const std::string& folder) {
  std::vector<int> steps;
  for (const std::string& name : value_or_throw(list_snapshots(files, folder))) {
    const auto step = static_cast<int>(*step_of(name));
    RankState state = small_state(99);
    const Status loaded = test::load(files, folder, step, state);
    EXPECT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(state.first_wrong(step), "");
    steps.push_back(step);
  }
  return steps;
}

TEST(SnapshotNames, AreThoseOfSteps) {
  EXPECT_EQ(snapshot_name(0), "step-000000000000");
  EXPECT_EQ(snapshot_name(1'000'000'000'000), "step-1000000000000");
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{500}, std::int64_t{1'000'000'000'000}}) {
    EXPECT_EQ(step_of(snapshot_name(step)), step);
  }
  for (const char* const name : {"", "step-", "step-1", "step-00000000000x", "step-+00000000001",
                                 "step--00000000001", "step-0000000000001", "step-000000000001 ",
                                 ".writing-step-000000000001", "step-99999999999999999999", "set-aside-1"}) {
    EXPECT_EQ(step_of(name), std::nullopt) << name;
  }
}

TEST(SnapshotFolder, ListsSnapshotsByStep) {
  MemoryFileSystem files;
  EXPECT_EQ(value_or_throw(list_snapshots(files, "none")), Names());
  for (const std::string name :
       {"run/step-1000000000000", "run/step-999999999999", "run/other", "run/.writing-step-000000000030"}) {
    ASSERT_TRUE(files.make_directories(name));
  }
  EXPECT_EQ(value_or_throw(list_snapshots(files, "run")), (Names{"step-999999999999", "step-1000000000000"}));
}

TEST(SnapshotFolder, IsPreparedForWriting) {
  MemoryFileSystem files;
  ASSERT_TRUE(save(files, "a/run", 1));
  for (const std::string name : {"a/run/.writing-step-000000000030", "a/run/.removing-step-000000000000"}) {
    ASSERT_TRUE(files.make_directories(name));
    put(files, name + "/model", "left");
  }
  put(files, "a/run/notes.txt", "mine");
  ASSERT_TRUE(prepare_folder(files, "a/run"));
  EXPECT_EQ(value_or_throw(files.list("a/run")), (Names{"notes.txt", "step-000000000001"}));
}

TEST(SnapshotFolder, CannotBeAFile) {
  MemoryFileSystem files;
  put(files, "run", "");
  const Status prepared = prepare_folder(files, "run");
  ASSERT_FALSE(prepared);
  EXPECT_TRUE(prepared.error().text().starts_with("the folder 'run' cannot be used for checkpoints: "));
}

// Without it, a power cut takes the folder with all snapshots that were reported as complete.
TEST(SnapshotFolder, SurvivesAPowerCut) {
  for (const std::string folder : {"run", "a/b/c/run", "/a/run"}) {
    MemoryFileSystem files;
    ASSERT_TRUE(prepare_folder(files, folder));
    ASSERT_TRUE(save(files, folder, 2));
    files.lose_unsynced();
    EXPECT_EQ(steps_in(files, folder), (std::vector{1, 2})) << folder;
  }
}

/// Three snapshots and the leftovers of a writer, all of them synced.
struct FullDisk {
  FullDisk() {
    EXPECT_TRUE(prepare_folder(files, "run"));
    EXPECT_TRUE(save(files, "run", 3));
    EXPECT_TRUE(files.make_directories("run/.writing-step-000000000004"));
    put_synced(files, "run/.writing-step-000000000004", "model", "left");
    EXPECT_TRUE(files.sync_directory("run"));
  }
  MemoryFileSystem files;
};

// Cuts the power at every call of `work`, and fails every call; checks the disk, then runs `work` once more.
template <class Work, class Check>
void interrupt(Work work, Check check) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool cuts_power : {true, false}) {
      bool is_met = true;
      for (std::uint64_t call = 1; is_met; ++call) {
        FullDisk disk;
        FileFaults faults{.code = ErrorCode::kDiskFull, .seed = seed};
        (cuts_power ? faults.crash_call : faults.fail_call) = call;
        FaultyFileSystem files(disk.files, faults);
        const Status done = work(files);
        is_met = files.calls() >= call;
        EXPECT_EQ(done.has_value(), !is_met) << "call " << call;
        if (!is_met) files.crash();
        files.restart();
        check(disk.files, !is_met);
        const Status again = work(disk.files);
        EXPECT_TRUE(again || again.error().root().code() == ErrorCode::kNotFound) << again.error().text();
      }
    }
  }
}

TEST(SnapshotFolder, IsPreparedAgainAfterACrash) {
  interrupt([](FileSystem& files) { return prepare_folder(files, "run"); },
            [](FileSystem& files, bool is_done) {
              EXPECT_EQ(steps_in(files, "run"), (std::vector{1, 2, 3}));
              ASSERT_TRUE(prepare_folder(files, "run"));
              EXPECT_EQ(value_or_throw(files.list("run")).size(), 3u);
              (void)is_done;
            });
}

// The snapshot is there as a whole, or not at all.
TEST(SnapshotFolder, LosesASnapshotAtOnce) {
  interrupt([](FileSystem& files) { return remove_snapshot(files, "run", snapshot_name(2)); },
            [](FileSystem& files, bool is_done) {
              const auto steps = steps_in(files, "run");
              EXPECT_TRUE(steps == (std::vector{1, 3}) || (!is_done && steps == (std::vector{1, 2, 3})));
              ASSERT_TRUE(prepare_folder(files, "run"));
              EXPECT_EQ(value_or_throw(files.list("run")).size(), steps.size());
            });
}

// Every snapshot is in the folder or among those set aside.
TEST(SnapshotFolder, SetsSnapshotsAside) {
  const Names newer{snapshot_name(2), snapshot_name(3)};
  interrupt([&](FileSystem& files) { return set_aside(files, "run", newer); },
            [](FileSystem& files, bool is_done) {
              auto steps = steps_in(files, "run");
              if (is_done) {
                EXPECT_EQ(steps, std::vector{1});
              }
              for (const std::string& name : value_or_throw(files.list("run"))) {
                if (!name.starts_with("set-aside-")) continue;
                const auto more = steps_in(files, "run/" + name);
                steps.insert(steps.end(), more.begin(), more.end());
              }
              std::sort(steps.begin(), steps.end());
              EXPECT_EQ(steps, (std::vector{1, 2, 3}));
            });
}

TEST(SnapshotFolder, NumbersThoseThatAreSetAside) {
  MemoryFileSystem files;
  ASSERT_TRUE(save(files, "run", 2));
  ASSERT_TRUE(set_aside(files, "run", Names()));
  ASSERT_TRUE(set_aside(files, "run", Names{snapshot_name(2)}));
  ASSERT_TRUE(set_aside(files, "run", Names{snapshot_name(1)}));
  EXPECT_EQ(value_or_throw(files.list("run")), (Names{"set-aside-1", "set-aside-2"}));
  EXPECT_EQ(steps_in(files, "run/set-aside-2"), std::vector{1});
}

// Where hosts do not share the folder, rank 0 does not see the files of the others.
TEST(SnapshotFolder, CompletesNoSnapshotWithoutItsFiles) {
  MemoryFileSystem files;
  const std::string writing = writing_folder("run", snapshot_name(1));
  ASSERT_TRUE(files.make_directories(writing));
  const Manifest manifest{.shards = {{.file = "model", .size_bytes = 5}}};
  const Status missing = commit_snapshot(files, "run", snapshot_name(1), manifest);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(missing.error().text().find("All ranks must write to the same folder"), std::string::npos);
  put(files, writing + "/model", "1234");
  const Status cut = commit_snapshot(files, "run", snapshot_name(1), manifest);
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().text().find("'model' has 4 bytes, expected 5"), std::string::npos);
  EXPECT_EQ(value_or_throw(list_snapshots(files, "run")), Names());
}

// Readers of Hugging Face checkpoints find the weights, not the moments.
TEST(SnapshotFolder, HasAnIndexOfTheWeights) {
  MemoryFileSystem files;
  std::vector<RankState> ranks(2);
  for (RankState& rank : ranks) {
    rank.add({.name = "fc.weight", .shape = {3}}, whole({3}));
    rank.add({.name = "fc.bias", .shape = {5}}, whole({5}));
    rank.add({.name = "fc.bias/step", .shape = {1}}, whole({1}));
  }
  ASSERT_TRUE(HandSaver(files, "run").save_full(ranks, 1));
  EXPECT_EQ(content_of(files, "run/step-000000000001/model.safetensors.index.json"),
            "{\n  \"metadata\": {\n    \"total_size\": 32\n  },\n  \"weight_map\": {\n    \"fc.bias\": "
            "\"rank-0.safetensors\",\n    \"fc.weight\": \"rank-1.safetensors\"\n  }\n}\n");
  RankState half;
  half.add({.name = "fc.weight", .shape = {4}}, flat_range({4}, 0, 2));
  std::vector<RankState> halves{half, RankState()};
  halves[1].add({.name = "fc.weight", .shape = {4}}, flat_range({4}, 2, 2));
  ASSERT_TRUE(HandSaver(files, "run").save_full(halves, 2));
  EXPECT_EQ(content_of(files, "run/step-000000000002/model.safetensors.index.json"), "<not_found>");
}

}  // namespace
}  // namespace cohort::checkpoint
