#include "checkpoint/restore.h"

#include "checkpoint/saved_by_hand.h"
#include "storage/content.h"
#include "storage/local_file_system.h"
#include "storage/memory_file_system.h"
#include "storage/temporary_directory.h"

#include <gtest/gtest.h>

// restore() of a process that is alone.

namespace cohort::checkpoint {
namespace {

using test::HandSaver;
using test::RankState;

using Names = std::vector<std::string>;

RankState small_state() {
  RankState state;
  state.add({.name = "fc.weight", .shape = {30, 10}}, whole({30, 10}));
  state.add({.name = "fc.weight/exp_avg", .dtype = DType::kF64, .shape = {7}}, whole({7}));
  return state;
}

/// A folder with full snapshots of steps 1 to 3; the state of step s is version s.
class Restoring : public testing::Test {
 protected:
  Restoring() {
    for (int step = 1; step <= 3; ++step) save(step);
  }
  void save(int step) {
    std::vector<RankState> ranks{small_state()};
    ranks[0].fill(step);
    EXPECT_TRUE(HandSaver(files, "run").save_full(ranks, step));
  }
  Result<std::optional<Restored>> take(std::optional<std::string> name = {}) {
    return restore(files, {.folder = "run", .name = std::move(name)},
                   [&](const Manifest&) -> Result<std::vector<Piece>> { return state.pieces(); });
  }
  static std::string path(int step, const std::string& file = "rank-0.safetensors") {
    return "run/" + snapshot_name(step) + "/" + file;
  }

  MemoryFileSystem files;
  RankState state = small_state();
};

TEST_F(Restoring, TakesTheNewest) {
  const auto restored = value_or_throw(take());
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->name, snapshot_name(3));
  EXPECT_EQ(restored->course.position.step, 3);
  EXPECT_EQ(restored->newer, Names());
  EXPECT_TRUE(restored->damaged.empty());
  EXPECT_EQ(state.first_wrong(3), "");
}

TEST_F(Restoring, TakesTheOneThatIsAskedFor) {
  const auto restored = value_or_throw(take(snapshot_name(1)));
  EXPECT_EQ(restored->name, snapshot_name(1));
  EXPECT_EQ(restored->newer, (Names{snapshot_name(2), snapshot_name(3)}));
  EXPECT_EQ(state.first_wrong(1), "");
  const auto absent = take(snapshot_name(4));
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code(), ErrorCode::kNotFound);
}

TEST_F(Restoring, TakesNothingIfThereIsNothing) {
  MemoryFileSystem empty;
  const auto targets = [](const Manifest&) -> Result<std::vector<Piece>> { return std::vector<Piece>(); };
  EXPECT_EQ(value_or_throw(restore(empty, {.folder = "none"}, targets)), std::nullopt);
  EXPECT_EQ(restore(empty, {.folder = "none", .name = snapshot_name(1)}, targets).error().code(),
            ErrorCode::kNotFound);
}

/// Damages the snapshot at `folder`, which must then be passed over.
struct Damage {
  std::string name;
  std::function<Status(FileSystem&, const std::string& folder)> make;
  std::string message;  ///< occurs in the error
};

Status write(FileSystem& files, const std::string& path, const std::string& text) {
  put(files, path, text);
  return {};
}

const std::string kShard = "/rank-0.safetensors", kManifest = "/manifest.json";

Status make_folder_instead(FileSystem& files, const std::string& path) {
  COHORT_RETURN_IF_ERROR(files.remove(path));
  return files.make_directories(path);
}

std::vector<Damage> damages() {
  const auto cut = [](const std::string& file, std::size_t left) {
    return [=](FileSystem& files, const std::string& folder) {
      return write(files, folder + file, content_of(files, folder + file).substr(0, left));
    };
  };
  return {
      {"NoManifest",
       [](FileSystem& files, const std::string& folder) { return files.remove(folder + kManifest); },
       "manifest.json"},
      {"EmptyManifest", cut(kManifest, 0), "field 'hash' is missing"},
      {"CutManifest", cut(kManifest, 100), "field 'hash' is "},
      {"FolderForManifest",
       [](FileSystem& files, const std::string& folder) {
         return make_folder_instead(files, folder + kManifest);
       },
       "manifest.json' is a folder, expected a file"},
      {"NoFile", [](FileSystem& files, const std::string& folder) { return files.remove(folder + kShard); },
       "rank-0.safetensors"},
      {"EmptyFile", cut(kShard, 0), "rank-0.safetensors' has 0 bytes, expected "},
      {"CutFile", cut(kShard, 700), "rank-0.safetensors' has 700 bytes, expected "},
      {"ContinuedFile",
       [](FileSystem& files, const std::string& folder) {
         return write(files, folder + kShard, content_of(files, folder + kShard) + "x");
       },
       "bytes, expected "},
      {"FolderForFile",
       [](FileSystem& files, const std::string& folder) {
         return make_folder_instead(files, folder + kShard);
       },
       "rank-0.safetensors' "},
      {"FileOfAnother",
       [](FileSystem& files, const std::string& folder) {
         return write(files, folder + kShard, content_of(files, "run/" + snapshot_name(1) + kShard));
       },
       "tensor 'fc.weight' in 'run/step-000000000003/rank-0.safetensors' is damaged: the hash of bytes "},
      {"FileForFolder",
       [](FileSystem& files, const std::string& folder) -> Status {
         COHORT_RETURN_IF_ERROR(remove_snapshot(files, "run", folder.substr(4)));
         return write(files, folder, "");
       },
       "is a file, expected a folder"},
  };
}

TEST_F(Restoring, PassesOverADamagedOne) {
  for (const Damage& damage : damages()) {
    SCOPED_TRACE(damage.name);
    if (!value_or_throw(files.exists(path(3)))) save(3);
    ASSERT_TRUE(damage.make(files, "run/" + snapshot_name(3)));
    state = small_state();
    const auto restored = take();
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_EQ((*restored)->name, snapshot_name(2));
    EXPECT_EQ(state.first_wrong(2), "");
    EXPECT_EQ((*restored)->newer, Names{snapshot_name(3)});
    ASSERT_EQ((*restored)->damaged.size(), 1u);
    EXPECT_NE((*restored)->damaged[0].text().find(damage.message), std::string::npos)
        << (*restored)->damaged[0].text();
    const auto asked = take(snapshot_name(3));
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().text().find("no snapshot is whole"), std::string::npos) << asked.error().text();
    ASSERT_TRUE(set_aside(files, "run", Names{snapshot_name(3)}));
  }
}

// The file system of this machine has other errors for the same damage.
TEST_F(Restoring, PassesOverADamagedOneOnARealDisk) {
  for (const Damage& damage : damages()) {
    if (damage.name == "FileOfAnother" || damage.name == "FileForFolder") continue;
    SCOPED_TRACE(damage.name);
    const TemporaryDirectory directory;
    LocalFileSystem disk;
    for (int step = 2; step <= 3; ++step) {
      std::vector<RankState> ranks{small_state()};
      ranks[0].fill(step);
      ASSERT_TRUE(HandSaver(disk, directory.path()).save_full(ranks, step));
    }
    put(disk, directory.path() + "/" + snapshot_name(4), "a file");
    ASSERT_TRUE(damage.make(disk, directory.path() + "/" + snapshot_name(3)));
    const auto restored =
        restore(disk, {.folder = directory.path()},
                [&](const Manifest&) -> Result<std::vector<Piece>> { return state.pieces(); });
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_EQ((*restored)->name, snapshot_name(2));
    EXPECT_EQ((*restored)->newer, (Names{snapshot_name(4), snapshot_name(3)}));
    EXPECT_EQ(state.first_wrong(2), "");
  }
}

TEST_F(Restoring, SaysThatNoSnapshotIsWhole) {
  for (int step = 1; step <= 3; ++step) put(files, path(step), "");
  const auto restored = take();
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code(), ErrorCode::kCorrupt);
  EXPECT_TRUE(restored.error().text().starts_with(
      "no snapshot is whole: cannot open the snapshot 'run/step-000000000003': "))
      << restored.error().text();
}

// A snapshot of a later version is not damaged: nobody should go on from an older one unawares.
TEST_F(Restoring, DoesNotPassOverALaterVersion) {
  Manifest later;
  later.version = kFormatVersion + 1;
  put(files, path(3, "manifest.json"), encode(later));
  const auto restored = take();
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code(), ErrorCode::kUnsupported);
}

TEST_F(Restoring, LosesNoTensor) {
  state = RankState();
  state.add({.name = "fc.weight", .shape = {30, 10}}, whole({30, 10}));
  const auto restored = take();
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code(), ErrorCode::kUsage);
  EXPECT_TRUE(
      restored.error().text().starts_with("training cannot go on from the snapshot 'step-000000000003': it "
                                          "has a tensor 'fc.weight/exp_avg', which this "
                                          "training does not have. "))
      << restored.error().text();
}

TEST_F(Restoring, FailsAsItsTargetsDo) {
  const auto restored =
      restore(files, {.folder = "run"}, [](const Manifest& manifest) -> Result<std::vector<Piece>> {
        return Error(ErrorCode::kUsage, fmt::format("not from step {}", manifest.course.position.step));
      });
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().text(),
            "training cannot go on from the snapshot 'step-000000000003': not from step 3");
}

}  // namespace
}  // namespace cohort::checkpoint
