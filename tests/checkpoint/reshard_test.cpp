#include "checkpoint/saved_by_hand.h"
#include "checkpoint/watched_file_system.h"
#include "soak.h"
#include "storage/memory_file_system.h"

#include <gtest/gtest.h>

// Snapshots of n ranks, read by m ranks in another layout: bit for bit the same, and no more bytes than
// needed.

namespace cohort::checkpoint {
namespace {

using test::Dice;
using test::HandSaver;
using test::RankState;
using test::rounds;
using test::TestTensor;
using test::WatchedFileSystem;

void fill(std::vector<RankState>& ranks, int version) {
  for (RankState& rank : ranks) rank.fill(version);
}

// `check(from, to, seed)` for all pairs of worlds up to eight.
template <class Check>
void for_all_pairs(std::uint64_t num_seeds, Check check) {
  for (std::size_t from = 1; from <= 8; ++from) {
    for (std::size_t to = 1; to <= 8; ++to) {
      for (std::uint64_t seed = 0; seed < num_seeds; ++seed) check(from, to, seed * 64 + from * 8 + to);
    }
  }
}

void expect_loaded(FileSystem& files, std::int64_t step, std::vector<RankState> ranks, int version,
                   const std::string& where) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Status loaded = test::load(files, "run", step, ranks[r]);
    ASSERT_TRUE(loaded) << where << ": " << loaded.error().text();
    ASSERT_EQ(ranks[r].first_wrong(version), "") << where << ", rank " << r;
  }
}

void check_pair(std::size_t from, std::size_t to, std::uint64_t seed, Compression compression) {
  const auto tensors = test::random_tensors(seed);
  auto writers = test::random_layout(tensors, seed, from);
  MemoryFileSystem files;
  HandSaver saver(files, "run", compression);
  fill(writers, 1);
  const Status saved = saver.save_full(writers, 10);
  ASSERT_TRUE(saved) << saved.error().text();
  const std::string where = fmt::format("{} to {}, seed {}", from, to, seed);
  expect_loaded(files, 10, test::random_layout(tensors, seed + 1000, to), 1, where);
  fill(writers, 3);
  ASSERT_TRUE(saver.save_difference(writers, 20));
  expect_loaded(files, 20, test::random_layout(tensors, seed + 2000, to), 3, where + ", difference");
}

TEST(Resharding, OfAnyLayoutToAnyLayout) {
  for_all_pairs(rounds(2U, 50U), [](std::size_t from, std::size_t to, std::uint64_t seed) {
    check_pair(from, to, seed, Compression::kNone);
  });
}

TEST(Resharding, OfCompressedTensors) {
  for_all_pairs(rounds(1U, 20U), [](std::size_t from, std::size_t to, std::uint64_t seed) {
    check_pair(from, to, seed, Compression::kZstd);
  });
}

std::size_t count_encoded(FileSystem& files, Encoding encoding) {
  const auto snapshot = value_or_throw(Snapshot::open(files, "run", snapshot_name(1)));
  std::size_t count = 0;
  for (const Shard& shard : snapshot->manifest().shards) {
    for (const StoredPiece& stored : shard.pieces) count += stored.encoding == encoding ? 1 : 0;
  }
  return count;
}

// A tensor of equal numbers becomes smaller, one of random bits does not.
TEST(Resharding, CompressesTensorsThatBecomeSmaller) {
  std::vector<float> same(5000, 1.5F);
  std::vector<std::uint64_t> random(2500);
  for (std::size_t i = 0; i < random.size(); ++i) random[i] = test::bits_of({.name = "r"}, i * i, 0);
  const std::vector<Piece> pieces{{.name = "same",
                                   .shape = {5000},
                                   .mine = whole({5000}),
                                   .bytes = std::as_writable_bytes(std::span(same))},
                                  {.name = "random",
                                   .dtype = DType::kI64,
                                   .shape = {2500},
                                   .mine = whole({2500}),
                                   .bytes = std::as_writable_bytes(std::span(random))}};
  MemoryFileSystem files;
  const std::string writing = writing_folder("run", snapshot_name(1));
  ASSERT_TRUE(files.make_directories(writing));
  Manifest manifest{.shards = {value_or_throw(write_shard(files, writing, "a", pieces, Compression::kZstd))}};
  ASSERT_TRUE(commit_snapshot(files, "run", snapshot_name(1), manifest));
  EXPECT_EQ(count_encoded(files, Encoding::kZstd), 1u);
  EXPECT_EQ(count_encoded(files, Encoding::kPlain), 1u);
  EXPECT_LT(manifest.shards[0].pieces[0].size_bytes, 5000u);
  std::vector<float> middle(100);
  const std::vector<Piece> target{{.name = "same",
                                   .shape = {5000},
                                   .mine = flat_range({5000}, 2000, 100),
                                   .bytes = std::as_writable_bytes(std::span(middle))}};
  ASSERT_TRUE(state::move(target, *value_or_throw(Snapshot::open(files, "run", snapshot_name(1)))));
  EXPECT_EQ(middle, std::vector<float>(100, 1.5F));
}

// A difference is smaller than a full snapshot, and nothing without its base.
TEST(Resharding, OfADifferenceNeedsItsBase) {
  const TestTensor tensor{.name = "w", .dtype = DType::kF64, .shape = {40, 100}};
  std::vector<RankState> ranks(2);
  for (RankState& rank : ranks) rank.add(tensor, whole(tensor.shape));
  MemoryFileSystem files;
  HandSaver saver(files, "run");
  fill(ranks, 0);
  ASSERT_TRUE(saver.save_full(ranks, 1));
  fill(ranks, 1);
  ASSERT_TRUE(saver.save_difference(ranks, 2));
  const auto full = value_or_throw(read_manifest(files, "run/" + snapshot_name(1)));
  const auto difference = value_or_throw(read_manifest(files, "run/" + snapshot_name(2)));
  EXPECT_LT(size_bytes(difference), size_bytes(full) / 2);
  EXPECT_GT(size_bytes(difference), 8000u);
  ASSERT_TRUE(remove_snapshot(files, "run", snapshot_name(1)));
  const Status loaded = test::load(files, "run", 2, ranks[0]);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(loaded.error().text().starts_with(
      "cannot open the snapshot 'run/step-000000000002': its base 'step-000000000001' is needed: "))
      << loaded.error().text();
  // A snapshot of another run under the same name is not the base.
  fill(ranks, 7);
  HandSaver other(files, "run");
  ASSERT_TRUE(other.save_full(ranks, 1));
  const Status mixed = test::load(files, "run", 2, ranks[0]);
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(mixed.error().text().find("field 'hash' of its manifest is"), std::string::npos)
      << mixed.error().text();
}

// Tensors of several blocks of 1 MiB: rows of a matrix, its columns, and a long vector cut anywhere.
const std::vector<TestTensor> kLarge{{.name = "matrix", .shape = {1100, 601}},
                                     {.name = "vector", .dtype = DType::kBF16, .shape = {1'300'007}}};

std::vector<RankState> large_layout(std::size_t world, bool in_columns) {
  std::vector<RankState> ranks(world);
  const auto cut = [world](std::size_t length, std::size_t r) { return length * r / world; };
  for (std::size_t r = 0; r < world; ++r) {
    const std::size_t dim = in_columns ? 1 : 0, length = kLarge[0].shape[dim];
    Box box{.first = {0, 0}, .lengths = kLarge[0].shape};
    box.first[dim] = cut(length, r);
    box.lengths[dim] = cut(length, r + 1) - cut(length, r);
    ranks[r].add(kLarge[0], {.boxes = {box}, .count = num_elements(box.lengths)});
    const std::size_t first = cut(kLarge[1].shape[0], r), last = cut(kLarge[1].shape[0], r + 1);
    ranks[r].add(kLarge[1], flat_range(kLarge[1].shape, first, last - first));
  }
  return ranks;
}

// The bytes of all blocks that have an element of the targets.
std::uint64_t bytes_needed(const Snapshot& snapshot, std::span<const Piece> targets) {
  std::set<std::tuple<std::size_t, std::uint64_t>> blocks;
  const auto planned = value_or_throw(state::plan_move(targets, snapshot.held()));
  for (const auto& each : planned) {
    const std::size_t size = size_bytes(snapshot.held()[each.read.held].piece.dtype);
    const std::uint64_t last = (each.read.from + each.read.count) * size - 1;
    for (std::uint64_t b = each.read.from * size / kBlockBytes; b <= last / kBlockBytes; ++b) {
      blocks.emplace(each.read.held, b);
    }
  }
  std::uint64_t sum = 0;
  for (const auto& [held, block] : blocks) {
    const Piece& piece = snapshot.held()[held].piece;
    sum += std::min<std::uint64_t>(kBlockBytes,
                                   piece.mine.count * size_bytes(piece.dtype) - block * kBlockBytes);
  }
  return sum;
}

void check_bytes_read(bool from_columns, std::size_t from, bool to_columns, std::size_t to) {
  MemoryFileSystem disk;
  WatchedFileSystem files(disk);
  auto writers = large_layout(from, from_columns);
  fill(writers, 0);
  ASSERT_TRUE(HandSaver(files, "run").save_full(writers, 1));
  auto readers = large_layout(to, to_columns);
  for (RankState& reader : readers) {
    const auto snapshot = value_or_throw(Snapshot::open(files, "run", snapshot_name(1)));
    files.take_bytes_read();
    ASSERT_TRUE(state::move(reader.pieces(), *snapshot));
    EXPECT_EQ(files.take_bytes_read(), bytes_needed(*snapshot, reader.pieces()));
    EXPECT_EQ(reader.first_wrong(0), "");
  }
}

TEST(Resharding, ReadsEachBlockThatIsNeededOnceAndNoOther) {
  check_bytes_read(false, 1, false, 3);
  check_bytes_read(true, 2, false, 1);
  check_bytes_read(false, 3, true, 2);
}

TEST(Resharding, NamesWhatDoesNotFit) {
  std::vector<RankState> ranks(1), other(1), larger(1);
  const TestTensor tensor{.name = "w", .shape = {3}};
  ranks[0].add(tensor, whole({3}));
  other[0].add({.name = "x", .shape = {3}}, whole({3}));
  larger[0].add({.name = "w", .shape = {4}}, whole({4}));
  MemoryFileSystem files;
  ASSERT_TRUE(HandSaver(files, "run").save_full(ranks, 1));
  EXPECT_EQ(test::load(files, "run", 1, other[0]).error().text(), "nobody has a piece of the name 'x'");
  EXPECT_EQ(test::load(files, "run", 1, larger[0]).error().code(), ErrorCode::kUsage);
}

// The second part of 'w' has the name that a tensor has already.
TEST(Resharding, OfATensorWithTheNameOfAPart) {
  const std::vector<TestTensor> tensors{{.name = "w", .shape = {6}}, {.name = "w@1", .shape = {2}}};
  std::vector<RankState> ranks(2);
  for (std::size_t r = 0; r < 2; ++r) {
    ranks[r].add(tensors[0], flat_range({6}, 3 * r, 3));
    ranks[r].add(tensors[1], whole({2}));
  }
  MemoryFileSystem files;
  fill(ranks, 0);
  const Status saved = HandSaver(files, "run").save_full(ranks, 1);
  ASSERT_TRUE(saved) << saved.error().text();
  expect_loaded(files, 1, ranks, 0, "w@1");
}

}  // namespace
}  // namespace cohort::checkpoint
