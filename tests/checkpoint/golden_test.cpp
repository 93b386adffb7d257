#include "checkpoint/golden_state.h"
#include "checkpoint/restore.h"
#include "checkpoint/snapshot_folder.h"
#include "checkpoint/verify.h"
#include "checkpoint/whole_tensors.h"
#include "layout/slice.h"
#include "storage/content.h"
#include "storage/local_file_system.h"
#include "storage/memory_file_system.h"
#include "storage/path.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

// The snapshots in tests/checkpoint/golden must be read by this version and by every later one.
// COHORT_WRITE_GOLDEN=1 writes them again, which only a new version of the format may need.

namespace cohort::test {
namespace {

using checkpoint::Snapshot;
using checkpoint::SnapshotTensors;

const std::string kFolder = COHORT_GOLDEN;
constexpr std::int64_t kSteps[] = {3, 4};

std::string hex_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte each : bytes) text += fmt::format("{:02x}", std::to_integer<int>(each));
  return text;
}

TEST(Golden, IsWrittenAgainOnRequest) {
  if (std::getenv("COHORT_WRITE_GOLDEN") == nullptr) return;
  LocalFileSystem files;
  std::filesystem::remove_all(kFolder);
  const Status golden = write_golden(files, kFolder);
  ASSERT_TRUE(golden) << golden.error().what();
  const Status example = write_example(files, kFolder + "/example");
  ASSERT_TRUE(example) << example.error().what();
}

TEST(Golden, HasEveryElement) {
  LocalFileSystem files;
  for (const std::int64_t step : kSteps) {
    const auto snapshot = value_or_throw(Snapshot::open(files, kFolder, checkpoint::snapshot_name(step)));
    const SnapshotTensors tensors(*snapshot);
    ASSERT_EQ(tensors.all().size(), golden_tensors().size());
    for (const GoldenTensor& expected : golden_tensors()) {
      const auto* tensor = tensors.find(expected.name);
      ASSERT_NE(tensor, nullptr) << expected.name;
      EXPECT_EQ(tensor->dtype, expected.dtype);
      EXPECT_EQ(tensor->shape, expected.shape);
      EXPECT_EQ(tensor->merge, expected.merge);
      std::vector<std::byte> bytes(tensor->size_bytes());
      const Status read = tensors.read(*tensor, 0, bytes);
      ASSERT_TRUE(read) << read.error().what();
      EXPECT_EQ(hex_of(bytes), hex_of(golden_bytes(expected, step))) << expected.name << ", step " << step;
    }
  }
}

// A tensor of the golden snapshots that no step changes would not show whether a difference is read.
TEST(Golden, DifferenceHasOtherElementsThanItsBase) {
  for (const GoldenTensor& tensor : golden_tensors()) {
    EXPECT_EQ(golden_bytes(tensor, 3) == golden_bytes(tensor, 4), tensor.end_changed == 0) << tensor.name;
  }
}

TEST(Golden, IsRestoredIntoOneRank) {
  LocalFileSystem files;
  std::vector<std::vector<std::byte>> memory;
  const checkpoint::Targets targets = [&](const checkpoint::Manifest&) -> Result<std::vector<Piece>> {
    std::vector<Piece> pieces;
    for (const GoldenTensor& tensor : golden_tensors()) {
      memory.emplace_back(golden_bytes(tensor, 3).size());
      pieces.push_back({.name = tensor.name,
                        .dtype = tensor.dtype,
                        .shape = tensor.shape,
                        .mine = whole(tensor.shape),
                        .merge = tensor.merge,
                        .bytes = memory.back()});
    }
    return pieces;
  };
  const auto restored = value_or_throw(checkpoint::restore(files, {.folder = kFolder}, targets));
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->name, "step-000000000004");
  EXPECT_TRUE(restored->damaged.empty());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    EXPECT_EQ(hex_of(memory[i]), hex_of(golden_bytes(golden_tensors()[i], 4))) << golden_tensors()[i].name;
  }
}

TEST(Golden, HasEveryFact) {
  LocalFileSystem files;
  for (const std::int64_t step : kSteps) {
    const auto manifest =
        value_or_throw(checkpoint::read_manifest(files, kFolder + "/" + checkpoint::snapshot_name(step)));
    EXPECT_EQ(manifest.version, 1);
    EXPECT_EQ(manifest.cohort_version, "0.1.0");
    EXPECT_EQ(manifest.kind,
              step == 3 ? checkpoint::SnapshotKind::kFull : checkpoint::SnapshotKind::kDifference);
    EXPECT_EQ(manifest.base, step == 3 ? "" : "step-000000000003");
    EXPECT_EQ(manifest.base_hash != 0, step == 4);
    EXPECT_EQ(manifest.ranks, 2);
    EXPECT_EQ(manifest.hosts, 1);
    EXPECT_EQ(manifest.mesh, (std::map<std::string, int>{{"data", 2}}));
    const checkpoint::Course& course = manifest.course;
    EXPECT_EQ(course.position.step, step);
    EXPECT_EQ(course.position.epoch, 1);
    EXPECT_EQ(course.position.step_in_epoch, step - 2);
    EXPECT_EQ(course.position.samples, step * 16);
    EXPECT_EQ(course.position.evaluations_since_best, step - 3);
    EXPECT_EQ(course.position.best_loss, 0.25);
    EXPECT_EQ(course.ledger, (checkpoint::Ledger{.samples = 40, .batch_size = 16, .micro_batches = 4}));
    EXPECT_EQ(course.loss, step == 3 ? 0.25 : 0.5);
    ASSERT_TRUE(course.best);
    EXPECT_EQ(course.best->epoch, 1);
    EXPECT_EQ(course.best->step, 3);
    EXPECT_EQ(course.best->loss, 0.25);
    EXPECT_EQ(course.best->accuracy, 0.75);
    EXPECT_EQ(course.settings,
              (std::map<std::string, std::string>{{"model.kind", "gpt"}, {"train.seed", "7"}}));
    EXPECT_EQ(course.config, "[train]\nseed = 7\n");
    EXPECT_EQ(course.bucket_order, (std::vector<std::int64_t>{1, 0, 2}));
  }
}

TEST(Golden, HasAllWaysOfStoring) {
  LocalFileSystem files;
  std::set<std::string> seen;
  for (const std::int64_t step : kSteps) {
    const auto snapshot = value_or_throw(Snapshot::open(files, kFolder, checkpoint::snapshot_name(step)));
    for (std::size_t i = 0; i < snapshot->held().size(); ++i) {
      const checkpoint::StoredPiece& stored = snapshot->stored_piece(i);
      const bool is_part = stored.tensor != stored.piece.name;
      seen.insert(stored.encoding == checkpoint::Encoding::kZstd ? "zstd" : is_part ? "part" : "whole");
      if (stored.piece.mine.boxes.front().lengths != stored.piece.shape) seen.insert("box");
      seen.insert(snapshot->file_of(i).substr(0, 3));
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"../", "box", "cha", "mod", "part", "tra", "whole", "zstd"}));
}

TEST(Golden, IsAcceptedByTheVerifier) {
  LocalFileSystem files;
  std::uint64_t read = 0;
  checkpoint::Verifier verifier(files, kFolder, [&](std::uint64_t bytes) { read += bytes; });
  std::uint64_t expected = 0;
  for (const std::int64_t step : kSteps) {
    const std::string name = checkpoint::snapshot_name(step);
    for (const checkpoint::Damage& damage : verifier.verify(name)) {
      ADD_FAILURE() << damage.file << " " << damage.tensor << ": " << damage.reason;
    }
    expected += size_bytes(value_or_throw(checkpoint::read_manifest(files, kFolder + "/" + name)));
  }
  EXPECT_EQ(read, expected);
}

TEST(Golden, ExampleIsWrittenByThisVersionByteForByte) {
  LocalFileSystem files;
  MemoryFileSystem memory;
  const Status written = write_example(memory, "example");
  ASSERT_TRUE(written) << written.error().what();
  const std::string name = checkpoint::snapshot_name(1);
  const auto names = value_or_throw(files.list(kFolder + "/example/" + name));
  EXPECT_EQ(value_or_throw(memory.list("example/" + name)), names);
  for (const std::string& file : names) {
    if (file == checkpoint::kManifestFile) continue;  // it has the version of Cohort
    EXPECT_EQ(content_of(memory, "example/" + name + "/" + file),
              content_of(files, kFolder + "/example/" + name + "/" + file));
  }
  auto manifest = value_or_throw(checkpoint::read_manifest(memory, "example/" + name));
  manifest.cohort_version = "0.1.0";
  EXPECT_EQ(encode(manifest),
            content_of(files, storage::joined(kFolder + "/example/" + name, checkpoint::kManifestFile)));
}

}  // namespace
}  // namespace cohort::test
