#include "base/checksum.h"
#include "checkpoint/block_reader.h"
#include "checkpoint/saved_by_hand.h"
#include "soak.h"
#include "storage/content.h"
#include "storage/memory_file_system.h"

#include <gtest/gtest.h>
#include <random>

namespace cohort::checkpoint {
namespace {

using test::HandSaver;
using test::RankState;
using test::rounds;

std::vector<RankState> two_ranks() {
  std::vector<RankState> ranks(2);
  for (std::size_t r = 0; r < 2; ++r) {
    ranks[r].add({.name = "fc.weight", .shape = {20, 10}}, whole({20, 10}));
    ranks[r].add({.name = "fc.bias", .dtype = DType::kBF16, .shape = {9}}, whole({9}));
    ranks[r].add({.name = "fc.weight/exp_avg", .dtype = DType::kF64, .shape = {20, 10}},
                 flat_range({20, 10}, 100 * r, 100));
  }
  return ranks;
}

RankState all_of_it() {
  RankState state;
  state.add({.name = "fc.weight", .shape = {20, 10}}, whole({20, 10}));
  state.add({.name = "fc.bias", .dtype = DType::kBF16, .shape = {9}}, whole({9}));
  state.add({.name = "fc.weight/exp_avg", .dtype = DType::kF64, .shape = {20, 10}}, whole({20, 10}));
  return state;
}

/// A full snapshot of step 1 and a difference of step 2.
struct Written {
  explicit Written(Compression compression) {
    HandSaver saver(files, "run", compression);
    auto ranks = two_ranks();
    for (RankState& rank : ranks) rank.fill(1);
    EXPECT_TRUE(saver.save_full(ranks, 1));
    for (RankState& rank : ranks) rank.fill(2);
    EXPECT_TRUE(saver.save_difference(ranks, 2));
    for (const int step : {1, 2}) {
      for (const std::string& name : value_or_throw(files.list("run/" + snapshot_name(step)))) {
        paths.push_back("run/" + snapshot_name(step) + "/" + name);
      }
    }
  }
  MemoryFileSystem files;
  std::vector<std::string> paths;
};

// The check that a verification makes of the bytes before the tensors, which loading does not read.
Status check_headers(FileSystem& files, int step) {
  COHORT_ASSIGN_OR_RETURN(const auto snapshot, Snapshot::open(files, "run", snapshot_name(step)));
  for (std::size_t m = 0; m < snapshot->manifests().size(); ++m) {
    for (const Shard& shard : snapshot->manifests()[m].shards) {
      const std::string text = content_of(files, snapshot->path_of(m, shard.file));
      if (content_hash(bytes_of(text.substr(0, shard.header_bytes))) != shard.header_hash) {
        return Error(ErrorCode::kCorrupt, fmt::format("header of '{}'", shard.file));
      }
      if (content_hash(bytes_of(text)) != shard.hash) return Error(ErrorCode::kCorrupt, shard.file);
    }
  }
  return {};
}

/// The results of loading damaged snapshots.
struct Tally {
  int num_noticed = 0, num_in_headers = 0, num_in_index = 0;
};

void load_damaged(Written& disk, const std::string& path, Tally& tally) {
  RankState state = all_of_it();
  const Status loaded = test::load(disk.files, "run", 2, state);
  if (!loaded) {
    ++tally.num_noticed;
    const std::string text = loaded.error().text();
    ASSERT_EQ(loaded.error().code(), ErrorCode::kCorrupt) << text;
    const bool is_manifest = path.ends_with(kManifestFile);
    ASSERT_NE(text.find(path), std::string::npos) << text;
    ASSERT_NE(text.find(is_manifest ? "field '" : "tensor 'fc."), std::string::npos) << text;
    return;
  }
  ASSERT_EQ(state.first_wrong(2), "") << path;
  if (path.ends_with(".safetensors")) {
    // Elements of the base that the difference replaces are not read.
    ASSERT_FALSE(check_headers(disk.files, 2)) << path;
    ++tally.num_in_headers;
  } else {
    ASSERT_TRUE(path.ends_with("index.json")) << path;
    ++tally.num_in_index;
  }
}

TEST(FlippedBits, NeverLoadWrong) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    Written disk(compression);
    std::mt19937_64 random(7);
    Tally tally;
    for (int i = 0; i < rounds(5'000, 500'000); ++i) {
      const std::string& path = disk.paths[random() % disk.paths.size()];
      const std::string before = content_of(disk.files, path);
      std::string flipped = before;
      const std::size_t bit = random() % (8 * before.size());
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      put(disk.files, path, flipped);
      load_damaged(disk, path, tally);
      put(disk.files, path, before);
      if (HasFatalFailure()) FAIL() << "bit " << bit << " of " << path;
    }
    EXPECT_GT(tally.num_noticed, 1000);
    EXPECT_GT(tally.num_in_headers, 0);
    RankState state = all_of_it();
    EXPECT_TRUE(test::load(disk.files, "run", 2, state));
  }
}

// Files of the same length that change places, within a snapshot and between two.
TEST(SwappedFiles, AreNoticed) {
  Written disk(Compression::kNone);
  int num_swaps = 0;
  for (const std::string& a : disk.paths) {
    for (const std::string& b : disk.paths) {
      const std::string content_a = content_of(disk.files, a), content_b = content_of(disk.files, b);
      if (a >= b || content_a == content_b) continue;
      put(disk.files, a, content_b);
      put(disk.files, b, content_a);
      RankState state = all_of_it();
      const Status loaded = test::load(disk.files, "run", 2, state);
      EXPECT_FALSE(loaded && state.first_wrong(2) != "") << a << " and " << b;
      if (!a.ends_with("index.json") && !b.ends_with("index.json")) {
        EXPECT_FALSE(loaded) << a << " and " << b;
      }
      put(disk.files, a, content_a);
      put(disk.files, b, content_b);
      ++num_swaps;
    }
  }
  EXPECT_GT(num_swaps, 10);
}

// Every block of every tensor is compared, whether somebody reads it or not.
TEST(CheckedBlocks, AreAll) {
  std::vector<std::byte> bytes(2 * kBlockBytes + 5);
  for (std::size_t i = 0; i < bytes.size(); i += 1000) bytes[i] = static_cast<std::byte>(i / 1000);
  const std::vector<Piece> pieces{{.name = "w",
                                   .dtype = DType::kU8,
                                   .shape = {bytes.size()},
                                   .mine = whole({bytes.size()}),
                                   .bytes = bytes}};
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    MemoryFileSystem files;
    const Shard shard = value_or_throw(write_shard(files, ".", "a", pieces, compression));
    EXPECT_EQ(shard.pieces[0].encoding == Encoding::kZstd, compression == Compression::kZstd);
    const auto check = [&] {
      return value_or_throw(BlockReader::open(files, "a", shard.pieces[0]))->check();
    };
    EXPECT_TRUE(check());
    const std::string before = content_of(files, "a");
    for (const std::uint64_t at : {shard.header_bytes, shard.header_bytes + shard.pieces[0].size_bytes - 1}) {
      std::string flipped = before;
      flipped[at] = static_cast<char>(flipped[at] ^ 1);
      put(files, "a", flipped);
      const Status checked = check();
      ASSERT_FALSE(checked);
      EXPECT_EQ(checked.error().code(), ErrorCode::kCorrupt);
    }
    put(files, "a", before.substr(0, before.size() - 1));
    EXPECT_NE(check().error().text().find("the file ends 1 bytes early"), std::string::npos);
  }
}

}  // namespace
}  // namespace cohort::checkpoint
