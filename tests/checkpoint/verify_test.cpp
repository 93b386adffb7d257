#include "checkpoint/verify.h"

#include "checkpoint/golden_state.h"
#include "checkpoint/snapshot_folder.h"
#include "checkpoint/weight_index.h"
#include "storage/content.h"
#include "storage/memory_file_system.h"
#include "storage/path.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using checkpoint::Damage;
using checkpoint::Manifest;

/// The golden snapshots, written anew into memory.
class Verify : public ::testing::Test {
 protected:
  void SetUp() override {
    const Status written = write_golden(files_, "run");
    ASSERT_TRUE(written) << written.error().what();
  }

  std::vector<Damage> verify(std::int64_t step) {
    return checkpoint::Verifier(files_, "run", [](std::uint64_t) {}).verify(checkpoint::snapshot_name(step));
  }
  /// All damage as one text.
  std::string text(std::int64_t step) {
    std::string all;
    for (const Damage& each : verify(step))
      all += fmt::format("{} {}: {}\n", each.file, each.tensor, each.reason);
    return all;
  }
  static std::string path(std::int64_t step, std::string_view file) {
    return storage::joined("run/" + checkpoint::snapshot_name(step), file);
  }
  /// Writes a manifest that was changed, with a seal that fits.
  void change(std::int64_t step, const std::function<void(Manifest&)>& edit) {
    Manifest manifest = value_or_throw(checkpoint::read_manifest(files_, path(step, "")));
    edit(manifest);
    put(files_, path(step, checkpoint::kManifestFile), encode(manifest));
  }

  MemoryFileSystem files_;
};

TEST_F(Verify, AcceptsWhatWasWritten) {
  EXPECT_EQ(text(3), "");
  EXPECT_EQ(text(4), "");
}

TEST_F(Verify, NoticesEveryByteThatChanges) {
  for (const std::int64_t step : {3, 4}) {
    for (const std::string& file : value_or_throw(files_.list(path(step, "")))) {
      const std::string whole = content_of(files_, path(step, file));
      const bool is_long = file == checkpoint::kManifestFile;
      for (std::size_t at = 0; at < whole.size(); at += is_long ? 23 : 3) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 4);
        put(files_, path(step, file), changed);
        const std::vector<Damage> damaged = verify(step);
        ASSERT_FALSE(damaged.empty()) << file << ", byte " << at;
        EXPECT_EQ(damaged.front().file, file) << "byte " << at;
      }
      put(files_, path(step, file), whole);
    }
  }
}

TEST_F(Verify, NamesTheTensorOfAByte) {
  const Manifest manifest = value_or_throw(checkpoint::read_manifest(files_, path(3, "")));
  for (const checkpoint::Shard& shard : manifest.shards) {
    const std::string whole = content_of(files_, path(3, shard.file));
    for (const checkpoint::StoredPiece& stored : shard.pieces) {
      if (stored.size_bytes == 0) continue;
      std::string changed = whole;
      changed[stored.first + stored.size_bytes - 1] ^= 1;
      put(files_, path(3, shard.file), changed);
      const std::vector<Damage> damaged = verify(3);
      ASSERT_EQ(damaged.size(), 1u) << stored.tensor;
      EXPECT_EQ(damaged.front().tensor, stored.tensor);
      put(files_, path(3, shard.file), whole);
    }
  }
}

TEST_F(Verify, NamesAllTensorsBehindTheEndOfAFile) {
  const std::string file = path(3, "model-00002-of-00002.safetensors");
  const std::string whole = content_of(files_, file);
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, whole.size() / 2, whole.size() - 1}) {
    put(files_, file, whole.substr(0, length));
    EXPECT_NE(text(3).find(fmt::format("its length is {} bytes, expected {}", length, whole.size())),
              std::string::npos);
    EXPECT_NE(
        text(3).find(fmt::format("head.i16: {} of bytes", std::min<std::size_t>(6, whole.size() - length))),
        std::string::npos)
        << length << text(3);
  }
  put(files_, file, whole + "x");
  EXPECT_NE(text(3).find(fmt::format("its length is {} bytes", whole.size() + 1)), std::string::npos);
}

TEST_F(Verify, NoticesFilesThatAreGone) {
  for (const std::string file :
       {"model-00001-of-00002.safetensors", "model.safetensors.index.json", "manifest.json"}) {
    const std::string whole = content_of(files_, path(3, file));
    ASSERT_TRUE(files_.remove(path(3, file)));
    const std::vector<Damage> damaged = verify(3);
    ASSERT_EQ(damaged.size(), 1u) << file;
    EXPECT_EQ(damaged.front().file, file);
    put(files_, path(3, file), whole);
  }
}

TEST_F(Verify, ChecksTheBaseOfADifference) {
  put(files_, path(3, checkpoint::kIndexFile), "{}");
  EXPECT_EQ(text(4),
            "../step-000000000003/model.safetensors.index.json : it says other things than the manifest\n");
  ASSERT_TRUE(checkpoint::remove_snapshot(files_, "run", checkpoint::snapshot_name(3)));
  ASSERT_EQ(verify(4).size(), 1u);
  EXPECT_EQ(verify(4).front().file, "../step-000000000003/manifest.json");
}

TEST_F(Verify, ReadsABaseOnce) {
  std::uint64_t read = 0;
  checkpoint::Verifier verifier(files_, "run", [&](std::uint64_t bytes) { read += bytes; });
  for (const std::int64_t step : {4, 3, 4}) (void)verifier.verify(checkpoint::snapshot_name(step));
  std::uint64_t all = 0;
  for (const std::int64_t step : {3, 4}) {
    all += size_bytes(value_or_throw(checkpoint::read_manifest(files_, path(step, ""))));
  }
  EXPECT_EQ(read, all);
}

// A manifest whose seal fits, but which says other things than the files.
TEST_F(Verify, ComparesTheManifestWithTheHeaders) {
  const auto expect = [&](const std::function<void(Manifest&)>& edit, const std::string& reason) {
    const std::string whole = content_of(files_, path(3, checkpoint::kManifestFile));
    change(3, edit);
    EXPECT_NE(text(3).find(reason), std::string::npos) << "expected: " << reason << "\nfound: " << text(3);
    put(files_, path(3, checkpoint::kManifestFile), whole);
  };
  expect(
      [](Manifest& m) {
        auto& pieces = m.shards[0].pieces;
        std::erase_if(pieces, [](const checkpoint::StoredPiece& stored) { return stored.size_bytes == 0; });
      },
      "head.größe: the manifest does not have it");
  expect([](Manifest& m) { m.shards[0].pieces.back().tensor = "other"; }, "its header is missing, expected");
  expect([](Manifest& m) { m.shards[0].pieces.back().piece.dtype = DType::kF64; }, "bytes' is");
  expect(
      [](Manifest& m) {
        for (auto& stored : m.shards[0].pieces) {
          if (stored.piece.dtype == DType::kF32) stored.piece.dtype = DType::kI32;
        }
      },
      "its header is F32");
  expect([](Manifest& m) { m.shards[1].hash ^= 1; }, "the hash of the file is");
  expect([](Manifest& m) { m.shards[1].header_hash ^= 1; }, "the hash of its header is");
  expect([](Manifest& m) { m.course.position.step = 5; }, "'course.position.step' is 5, expected that of");
  expect([](Manifest& m) { m.shards.pop_back(); }, "no file has its elements");
}

TEST_F(Verify, NoticesABaseThatIsADifference) {
  change(4, [](Manifest& manifest) { manifest.base = "step-000000000004"; });
  EXPECT_NE(text(4).find("is a difference"), std::string::npos) << text(4);
}

TEST_F(Verify, NoticesABaseOfAnotherRun) {
  change(3, [](Manifest& manifest) { manifest.course.settings["train.seed"] = "8"; });
  EXPECT_EQ(text(3), "");
  EXPECT_NE(text(4).find("manifest.json : field 'base_hash' is "), std::string::npos) << text(4);
  change(4, [](Manifest& manifest) { manifest.base = "step-000000000004"; });
  EXPECT_NE(text(4).find("its base 'step-000000000004' is a difference"), std::string::npos) << text(4);
}

}  // namespace
}  // namespace cohort::test
