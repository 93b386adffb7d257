#include "checkpoint/manifest.h"

#include "layout/slice.h"

#include <gtest/gtest.h>
#include <limits>

namespace cohort::checkpoint {
namespace {

constexpr std::uint64_t kLastHash = std::numeric_limits<std::uint64_t>::max();

StoredPiece stored(Piece piece, std::uint64_t first) {
  const std::uint64_t size = piece.mine.count * size_bytes(piece.dtype);
  StoredPiece made{.piece = std::move(piece), .first = first, .size_bytes = size};
  made.tensor = made.piece.name;
  made.hashes.assign((size + kBlockBytes - 1) / kBlockBytes, 0x0123456789abcdef);
  return made;
}

// Every field has a value of its own.
Manifest example() {
  Manifest made{.cohort_version = "0.9.1",
                .kind = SnapshotKind::kDifference,
                .base = "step-000000000100",
                .base_hash = 0x00c0ffee00c0ffee,
                .ranks = 6,
                .hosts = 3,
                .mesh = {{"data", 2}, {"tensor", 3}}};
  made.course = {
      .position = {.step = 1,
                   .epoch = 2,
                   .step_in_epoch = 3,
                   .samples = 4,
                   .evaluations_since_best = 5,
                   .best_loss = 0.1,
                   .skipped_steps = 6,
                   .loss_scale = 0.125,
                   .growth_tracker = 7,
                   .overflows_in_row = 8,
                   .f32_stages = 9,
                   .f32_until = 10,
                   .plateau = {.best = 0.3, .num_bad = 2, .cooldown_left = 3, .reductions = 4},
                   .epoch_loss = 1.0 / 3,
                   .epoch_weight = 48},
      .ledger = {.samples = 60000, .batch_size = 64, .micro_batches = 8},
      .loss = -1e-300,
      .settings = {{"seed", "1"}, {"optimizer", "adamw \"quoted\"\n\x01 ü"}},
      .config = "[train]\nbatch_size = 64\n",
      .bucket_order = {2, 0, 1},
      .taken_at = 1'800'000'000,
      .optimizer_groups = {{.parameters = {"a", "b"},
                            .settings = {{"lr", 0.1}, {"nesterov", true}, {"betas", std::vector{0.9, 0.99}}}},
                           {.parameters = {"c"}}}};
  Shard shard{
      .file = "model-00001-of-00006.safetensors", .hash = kLastHash, .header_bytes = 128, .header_hash = 7};
  shard.pieces.push_back(stored({.name = "fc.weight",
                                 .dtype = DType::kBF16,
                                 .shape = {3, 4},
                                 .mine = whole({3, 4}),
                                 .merge = Merge::kMean},
                                128));
  shard.pieces.push_back(
      stored({.name = "fc.weight/exp_avg",
              .dtype = DType::kF64,
              .shape = {1000, 400},
              .mine = {.boxes = {{{0, 2}, {4, 2}}, {{500, 0}, {500, 400}}}, .first = 7, .count = 180000},
              .merge = Merge::kMax},
             152));
  shard.pieces.back().tensor = "fc.weight/exp_avg@1";
  shard.size_bytes = 152 + 8 * 180000;
  StoredPiece scalar =
      stored({.name = "step", .dtype = DType::kI64, .shape = {}, .mine = whole({}), .merge = Merge::kSum}, 0);
  scalar.encoding = Encoding::kZstd;
  scalar.size_bytes = 5;
  made.shards = {shard, {.file = "a", .size_bytes = 5, .pieces = {scalar}}, {.file = "b"}};
  return made;
}

void expect_same(const StoredPiece& a, const StoredPiece& b) {
  EXPECT_EQ(a.piece.name, b.piece.name);
  EXPECT_EQ(a.piece.dtype, b.piece.dtype);
  EXPECT_EQ(a.piece.shape, b.piece.shape);
  EXPECT_EQ(a.piece.mine, b.piece.mine);
  EXPECT_EQ(a.piece.merge, b.piece.merge);
  EXPECT_EQ(a.tensor, b.tensor);
  EXPECT_EQ(a.encoding, b.encoding);
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.size_bytes, b.size_bytes);
  EXPECT_EQ(a.hashes, b.hashes);
}

void expect_same(const std::vector<Shard>& a, const std::vector<Shard>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t s = 0; s < a.size(); ++s) {
    EXPECT_EQ(a[s].file, b[s].file);
    EXPECT_EQ(a[s].size_bytes, b[s].size_bytes);
    EXPECT_EQ(a[s].hash, b[s].hash);
    EXPECT_EQ(a[s].header_bytes, b[s].header_bytes);
    EXPECT_EQ(a[s].header_hash, b[s].header_hash);
    ASSERT_EQ(a[s].pieces.size(), b[s].pieces.size());
    for (std::size_t p = 0; p < a[s].pieces.size(); ++p) expect_same(a[s].pieces[p], b[s].pieces[p]);
  }
}

void expect_same(const Course& a, const Course& b) {
  EXPECT_EQ(a.position.step, b.position.step);
  EXPECT_EQ(a.position.epoch, b.position.epoch);
  EXPECT_EQ(a.position.step_in_epoch, b.position.step_in_epoch);
  EXPECT_EQ(a.position.samples, b.position.samples);
  EXPECT_EQ(a.position.evaluations_since_best, b.position.evaluations_since_best);
  EXPECT_EQ(a.position.best_loss, b.position.best_loss);
  EXPECT_EQ(a.position.plateau, b.position.plateau);
  EXPECT_EQ(a.position.epoch_loss, b.position.epoch_loss);
  EXPECT_EQ(a.position.epoch_weight, b.position.epoch_weight);
  EXPECT_EQ(a.position.skipped_steps, b.position.skipped_steps);
  EXPECT_EQ(a.position.loss_scale, b.position.loss_scale);
  EXPECT_EQ(a.position.growth_tracker, b.position.growth_tracker);
  EXPECT_EQ(a.position.overflows_in_row, b.position.overflows_in_row);
  EXPECT_EQ(a.position.f32_stages, b.position.f32_stages);
  EXPECT_EQ(a.position.f32_until, b.position.f32_until);
  EXPECT_EQ(a.ledger, b.ledger);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.settings, b.settings);
  EXPECT_EQ(a.config, b.config);
  EXPECT_EQ(a.bucket_order, b.bucket_order);
  EXPECT_EQ(a.taken_at, b.taken_at);
  EXPECT_EQ(a.optimizer_groups, b.optimizer_groups);
}

TEST(ManifestText, LacksNumbersOfPrecisionThatAreZero) {
  Manifest plain = example();
  plain.course.position = {.step = 1};
  const std::string text = encode(plain);
  for (const char* field : {"skipped_steps", "loss_scale", "growth_tracker", "overflows_in_row", "f32_"}) {
    EXPECT_EQ(text.find(field), std::string::npos) << field;
  }
  const auto decoded = decode_manifest(text);
  ASSERT_TRUE(decoded) << decoded.error().text();
  expect_same(plain.course, decoded->course);
}

TEST(ManifestText, HasEveryField) {
  const Manifest a = example();
  const auto b = decode_manifest(encode(a));
  ASSERT_TRUE(b) << b.error().text();
  EXPECT_EQ(a.version, b->version);
  EXPECT_EQ(a.cohort_version, b->cohort_version);
  EXPECT_EQ(a.kind, b->kind);
  EXPECT_EQ(a.base, b->base);
  EXPECT_EQ(a.base_hash, b->base_hash);
  EXPECT_EQ(a.ranks, b->ranks);
  EXPECT_EQ(a.hosts, b->hosts);
  EXPECT_EQ(a.mesh, b->mesh);
  expect_same(a.course, b->course);
  expect_same(a.shards, b->shards);
  EXPECT_EQ(b->hash, hash_of(a));
  EXPECT_EQ(encode(*b), encode(a));
  EXPECT_EQ(size_bytes(*b), 152u + 8 * 180000 + 5);
}

TEST(ManifestText, MayBeOfAnEmptyState) {
  const auto decoded = decode_manifest(encode(Manifest()));
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_TRUE(decoded->shards.empty());
  EXPECT_EQ(decoded->kind, SnapshotKind::kFull);
  EXPECT_EQ(decoded->course.loss, std::nullopt);
  EXPECT_EQ(decoded->course.position.best_loss, std::numeric_limits<double>::infinity());
}

// A job file may have a comment in another character set, and a loss may be NaN.
TEST(ManifestText, ReplacesValuesThatJsonDoesNotHave) {
  Manifest made;
  made.course.config = "# caf\xe9";
  made.course.loss = std::numeric_limits<double>::quiet_NaN();
  const auto decoded = decode_manifest(encode(made));
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->course.config, "# caf\xef\xbf\xbd");
  EXPECT_EQ(decoded->course.loss, std::nullopt);
}

TEST(ManifestText, OfShardsTravelsBetweenRanks) {
  const auto decoded = decode_shards(encode_shards(example().shards));
  ASSERT_TRUE(decoded) << decoded.error().text();
  expect_same(*decoded, example().shards);
  EXPECT_TRUE(decode_shards(encode_shards({}))->empty());
  EXPECT_FALSE(decode_shards("{"));
}

TEST(ManifestText, IsRefusedWithAnyBitFlipped) {
  const std::string text = encode(example());
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto decoded = decode_manifest(flipped);
    ASSERT_FALSE(decoded) << "bit " << bit;
    ASSERT_EQ(decoded.error().code(), ErrorCode::kCorrupt);
    ASSERT_TRUE(decoded.error().text().starts_with("field 'hash' is ")) << decoded.error().text();
  }
}

TEST(ManifestText, IsRefusedWhenCutOrContinued) {
  const std::string text = encode(example());
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto decoded = decode_manifest(std::string_view(text).substr(0, length));
    ASSERT_FALSE(decoded) << length;
    ASSERT_EQ(decoded.error().code(), ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(decode_manifest(text + "\n"));
  EXPECT_FALSE(decode_manifest(text + text));
}

TEST(ManifestText, OfALaterVersionSaysWhatToDo) {
  Manifest later = example();
  later.version = kFormatVersion + 1;
  const auto decoded = decode_manifest(encode(later));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(decoded.error().text(),
            "field 'version' is 2, expected at most 1. Read the snapshot with the version of Cohort that "
            "wrote it, or a "
            "later one.");
}

}  // namespace
}  // namespace cohort::checkpoint
