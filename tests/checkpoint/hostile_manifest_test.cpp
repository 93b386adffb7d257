#include "base/checksum.h"
#include "checkpoint/block_reader.h"
#include "checkpoint/manifest.h"
#include "checkpoint/snapshot.h"
#include "checkpoint/text_mutator.h"
#include "layout/slice.h"
#include "soak.h"
#include "state/move.h"
#include "state/safetensors_header.h"
#include "storage/content.h"
#include "storage/memory_file_system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

// Manifests that somebody else has sealed: the hash is right, the content is not.

namespace cohort::checkpoint {
namespace {

using test::rounds;
using test::TextMutator;

constexpr std::size_t kFirstLine = 30;  // {"hash": "0123456789abcdef",↵

std::string sealed(const std::string& rest) {
  return fmt::format("{{\"hash\": \"{:016x}\",\n{}", content_hash(bytes_of(rest)), rest);
}

// Two tensors in one file: 24 bytes of 'a', then 16 of one half of 'b'.
Manifest honest() {
  Manifest made{.mesh = {{"data", 1}}};
  Shard shard{.file = "model", .size_bytes = 64 + 40, .header_bytes = 64};
  shard.pieces.push_back({.piece = {.name = "a", .shape = {2, 3}, .mine = whole({2, 3})},
                          .tensor = "a",
                          .first = 64,
                          .size_bytes = 24,
                          .hashes = {content_hash(std::vector<std::byte>(24))}});
  shard.pieces.push_back(
      {.piece = {.name = "b", .dtype = DType::kI64, .shape = {4}, .mine = flat_range({4}, 2, 2)},
       .tensor = "b@1",
       .first = 88,
       .size_bytes = 16,
       .hashes = {content_hash(std::vector<std::byte>(16))}});
  made.shards = {shard};
  return made;
}

// The error for the honest manifest with another text somewhere.
std::string with(const std::string& find, const std::string& replacement) {
  std::string rest = encode(honest()).substr(kFirstLine);
  const std::size_t at = rest.find(find);
  EXPECT_NE(at, std::string::npos) << find;
  rest.replace(at, find.size(), replacement);
  const auto decoded = decode_manifest(sealed(rest));
  if (decoded) return "";
  EXPECT_EQ(decoded.error().code(), ErrorCode::kCorrupt);
  return decoded.error().text();
}

TEST(HostileManifest, IsTheHonestOneIfNothingChanges) {
  EXPECT_EQ(with("\"a\"", "\"a\""), "");
}

TEST(HostileManifest, IsNotJson) {
  for (const std::string rest : {"", "x", "}", "{", "\"a\": 1", "\"a\": 1}}"}) {
    const auto decoded = decode_manifest(sealed(rest));
    ASSERT_FALSE(decoded) << rest;
    EXPECT_EQ(decoded.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(HostileManifest, LacksAField) {
  for (const std::string field : {"format",
                                  "version",
                                  "cohort",
                                  "kind",
                                  "base",
                                  "base_hash",
                                  "world",
                                  "course",
                                  "shards",
                                  "ranks",
                                  "hosts",
                                  "mesh",
                                  "position",
                                  "step",
                                  "epoch",
                                  "step_in_epoch",
                                  "evaluations_since_best",
                                  "best_loss",
                                  "ledger",
                                  "batch_size",
                                  "micro_batches",
                                  "loss",
                                  "settings",
                                  "bucket_order",
                                  "config",
                                  "file",
                                  "hash",
                                  "header_bytes",
                                  "header_hash",
                                  "pieces",
                                  "name",
                                  "dtype",
                                  "shape",
                                  "merge",
                                  "tensor",
                                  "encoding",
                                  "first",
                                  "hashes"}) {
    EXPECT_TRUE(with("\"" + field + "\":", "\"x\":").find(field + "' is missing, expected ") !=
                std::string::npos)
        << field << ": " << with("\"" + field + "\":", "\"x\":");
  }
}

TEST(HostileManifest, HasAnotherType) {
  EXPECT_EQ(with("\"cohort snapshot\"", "7"), "field 'format' is 7, expected a text");
  EXPECT_EQ(with("\"ranks\": 1", "\"ranks\": \"1\""),
            "field 'world.ranks' is \"1\", expected a whole number");
  EXPECT_EQ(with("\"ranks\": 1", "\"ranks\": 1.0"), "field 'world.ranks' is 1.0, expected a whole number");
  EXPECT_EQ(with("\"position\": {", "\"position\": [], \"x\": {"),
            "field 'course.position' is an array of 0, expected an object");
  EXPECT_EQ(with("\"loss\": null", "\"loss\": {}"),
            "field 'course.loss' is an object of 0, expected a number or null");
  EXPECT_EQ(with("\"settings\": {}", "\"settings\": {\"seed\": 1}"),
            "field 'course.settings.seed' is 1, expected a text");
  EXPECT_EQ(with("\"config\":", "\"optimizer_groups\": [{\"parameters\": [1]}], \"config\":"),
            "field 'course.optimizer_groups[0].parameters' is 1, expected an array of texts");
  EXPECT_EQ(
      with("\"config\":",
           "\"optimizer_groups\": [{\"parameters\": [], \"settings\": {\"lr\": \"x\"}}], \"config\":"),
      "field 'course.optimizer_groups[0].settings.lr' is \"x\", expected true, false, a number or an array "
      "of numbers");
  EXPECT_EQ(
      with("\"config\":",
           "\"optimizer_groups\": [{\"parameters\": [], \"settings\": {\"lr\": [[]]}}], \"config\":"),
      "field 'course.optimizer_groups[0].settings.lr' is an array of 1, expected true, false, a number or an "
      "array of numbers");
  EXPECT_EQ(with("\"pieces\": [", "\"pieces\": [7,"), "field 'shards[0].pieces[0]' is 7, expected an object");
  EXPECT_EQ(with("\"shape\": [\n      2,", "\"shape\": [\n      2.5,"),
            "field 'shards[0].pieces[0].shape' is 2.5, expected an array of whole numbers from 0 on");
}

TEST(HostileManifest, HasWordsThatNobodyKnows) {
  EXPECT_EQ(with("\"full\"", "\"half\""), "field 'kind' is 'half', expected a known word");
  EXPECT_EQ(with("\"same\"", "\"any\""), "field 'shards[0].pieces[0].merge' is 'any', expected a known word");
  EXPECT_EQ(with("\"plain\"", "\"gzip\""),
            "field 'shards[0].pieces[0].encoding' is 'gzip', expected a known word");
  EXPECT_EQ(with("\"f32\"", "\"f31\""),
            "field 'shards[0].pieces[0].dtype' is another text, expected a type such as f32");
}

TEST(HostileManifest, HasImpossibleNumbers) {
  const std::string from_one = ", expected a whole number from 1 to 16777216";
  EXPECT_EQ(with("\"ranks\": 1", "\"ranks\": 0"), "field 'world.ranks' is 0" + from_one);
  EXPECT_EQ(with("\"ranks\": 1", "\"ranks\": -1"), "field 'world.ranks' is -1" + from_one);
  EXPECT_EQ(with("\"data\": 1", "\"data\": 16777217"), "field 'world.mesh.data' is 16777217" + from_one);
  EXPECT_EQ(with("\"step\": 0", "\"step\": 18446744073709551615"),
            "field 'course.position.step' is 18446744073709551615, expected a whole number from 0 to "
            "9223372036854775807");
  EXPECT_EQ(
      with("\"bucket_order\": []", "\"bucket_order\": [18446744073709551615]"),
      "field 'course.bucket_order' is 18446744073709551615, expected an array of whole numbers from 0 on");
  EXPECT_EQ(with("\"version\": 1", "\"version\": 0"),
            "field 'version' is 0, expected a whole number from 1 to 1048576");
}

TEST(HostileManifest, NamesFilesElsewhere) {
  for (const std::string file : {"", ".", "..", "../model", "/etc/passwd", "a/b", ".hidden", "a\\u0000b"}) {
    EXPECT_EQ(with("\"file\": \"model\"", "\"file\": \"" + file + "\""),
              "field 'shards[0].file' is another path, expected the name of a file in this folder")
        << file;
  }
  for (const std::string base : {"../other", "/abs", "step-000000000001"}) {  // of a full snapshot
    if (base.find('/') != std::string::npos) continue;
    EXPECT_EQ(with("\"base\": \"\"", "\"base\": \"" + base + "\""),
              "field 'base' is another text, expected the name of a snapshot for a difference, else empty");
  }
  EXPECT_EQ(with("\"full\",\n \"base\": \"\"", "\"difference\",\n \"base\": \"../step-1\""),
            "field 'base' is another text, expected the name of a snapshot for a difference, else empty");
}

TEST(HostileManifest, HasShapesAndSlicesThatDoNotFit) {
  const std::string piece = "field 'shards[0].pieces[0].", second = "field 'shards[0].pieces[1].";
  EXPECT_EQ(with("\"shape\": [\n      2,", "\"shape\": [\n      4294967296, 4294967296,"),
            piece + "shape' is more, expected fewer than 2^59 elements");
  EXPECT_EQ(with("\"shape\": [\n      2,", "\"shape\": [\n      0, 4294967296, 4294967296,"),
            piece + "shape' is more, expected fewer than 2^59 elements");
  EXPECT_EQ(with("\"shape\": [\n      2,", "\"shape\": [\n      3,"), piece + "bytes' is 24, expected 36");
  EXPECT_EQ(
      with("\"count\": 2", "\"count\": 3"),
      second +
          "slice' is elements 2 … 4 of [0…4), which have only 4 elements, expected a slice of the tensor");
  EXPECT_EQ(with("\"lengths\": [\n         4", "\"lengths\": [\n         5"),
            second + "slice' is the box [0…5) does not fit into [0…4), expected a slice of the tensor");
  EXPECT_EQ(with("\"lengths\": [\n         4", "\"lengths\": [\n         4, 4"),
            second +
                "slice' is a box has 1 first indices and 2 lengths, expected 1 of each, expected a slice of "
                "the tensor");
}

// Boxes that have each element several times can have 2^64 bytes, which a product in 64 bits takes for 0.
TEST(HostileManifest, HasElementsOftenEnoughToOverflow) {
  Manifest made = honest();
  const Shape shape{std::size_t{1} << 58};
  StoredPiece& stored = made.shards[0].pieces[1];
  stored.piece.shape = shape;
  stored.piece.mine = {.boxes = std::vector<Box>(8, {.first = {0}, .lengths = shape}),
                       .count = std::size_t{1} << 61};
  stored.size_bytes = 0;
  stored.hashes.clear();
  made.shards[0].size_bytes = 88;
  const auto decoded = decode_manifest(encode(made));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().text(),
            "field 'shards[0].pieces[1].slice' is 2305843009213693952 elements, expected at most the "
            "288230376151711744 "
            "elements of the tensor");
}

TEST(HostileManifest, HasBytesElsewhere) {
  const std::string second = "field 'shards[0].pieces[1].";
  EXPECT_EQ(with("\"first\": 88", "\"first\": 64"), second + "first' is 64, expected 88");
  EXPECT_EQ(with("\"first\": 88", "\"first\": 89"), second + "first' is 89, expected 88");
  EXPECT_EQ(with("\"first\": 88", "\"first\": -88"),
            second + "first' is -88, expected a whole number from 0 to 9223372036854775807");
  EXPECT_EQ(with("\"bytes\": 104", "\"bytes\": 103"),
            second + "bytes' is 16, expected at most the 15 that are left in the file");
  EXPECT_EQ(with("\"bytes\": 104", "\"bytes\": 105"), "field 'shards[0].bytes' is 105, expected 104");
  EXPECT_EQ(with("\"header_bytes\": 64", "\"header_bytes\": 105"),
            "field 'shards[0].header_bytes' is more, expected at most bytes");
}

TEST(HostileManifest, HasHashesOfAnotherForm) {
  const std::string digits = fmt::format("{:016x}", content_hash(std::vector<std::byte>(24)));
  const std::string name = "field 'shards[0].pieces[0].hashes' is ";
  EXPECT_EQ(with(digits, ""), name + "0 characters, expected 16 hexadecimal digits");
  EXPECT_EQ(with(digits, digits + digits), name + "32 characters, expected 16 hexadecimal digits");
  EXPECT_EQ(with(digits, "x" + digits.substr(1)), name + "another text, expected hexadecimal digits");
  EXPECT_EQ(with(digits, "-" + digits.substr(1)), name + "another text, expected hexadecimal digits");
  EXPECT_EQ(with("\"base_hash\": \"0", "\"base_hash\": \""),
            "field 'base_hash' is 15 characters, expected 16 hexadecimal digits");
}

// A file of a few bytes would be decompressed to as much as its manifest says.
TEST(HostileManifest, HasMoreThanItsCompressedBytesCanHold) {
  Manifest made = honest();
  StoredPiece& stored = made.shards[0].pieces[1];
  stored.encoding = Encoding::kZstd;
  stored.piece.shape = {std::size_t{1} << 40};
  stored.piece.mine = whole(stored.piece.shape);
  const auto decoded = decode_manifest(encode(made));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().text(),
            "field 'shards[0].pieces[1].bytes' is 16, expected the compressed form of 8796093022208");
}

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(HostileManifest, IsNestedDeeply) {
  constexpr std::size_t kDepth = 200'000;
  EXPECT_EQ(with("\"cohort snapshot\"", repeated("[", kDepth) + repeated("]", kDepth)),
            "field 'format' is an array of 1, expected a text");
  EXPECT_EQ(with("\"cohort snapshot\"", repeated("{\"a\":", kDepth) + "1" + repeated("}", kDepth)),
            "field 'format' is an object of 1, expected a text");
  EXPECT_EQ(with("\"cohort snapshot\"", repeated("[", kDepth)), "it is not JSON");
}

TEST(HostileManifest, HasMillionsOfElements) {
  constexpr std::size_t kCount = 100'000;
  std::string members;
  for (std::size_t i = 0; i < kCount; ++i) members += fmt::format("\"{}\":0,", i);
  EXPECT_EQ(with("\"data\": 1", members + "\"data\": 1").substr(0, 25), "field 'world.mesh.0' is 0");
  EXPECT_EQ(with("\"pieces\": [", "\"pieces\": [" + repeated("{},", kCount)),
            "field 'shards[0].pieces[0].name' is missing, expected a text");
  EXPECT_EQ(with("\"shape\": [", "\"shape\": [" + repeated("1,", kCount)), "");
  EXPECT_EQ(with("\"shape\": [", "\"shape\": [" + repeated("2,", kCount)),
            "field 'shards[0].pieces[0].shape' is more, expected fewer than 2^59 elements");
  EXPECT_EQ(with("\"config\": \"\"", "\"config\": 7, \"x\": \"" + repeated("x", kCount) + "\""),
            "field 'course.config' is 7, expected a text");
}

// Whatever a manifest says, if it is accepted, reading what it describes ends with an answer.
void read_all(const Manifest& manifest, const std::string& text) {
  MemoryFileSystem files;
  ASSERT_TRUE(files.make_directories("s"));
  put(files, "s/manifest.json", text);
  for (const Shard& shard : manifest.shards) {
    if (shard.size_bytes < 4096 && shard.file != kManifestFile)
      put(files, "s/" + shard.file, std::string(shard.size_bytes, '\0'));
  }
  const auto snapshot = Snapshot::open(files, ".", "s");
  if (!snapshot) return;
  for (std::size_t i = 0; i < (*snapshot)->held().size(); ++i) {
    const std::size_t count = (*snapshot)->held()[i].piece.mine.count;
    (void)(*snapshot)->read(std::vector<state::Read>{{i, 0, count}, {i, count / 2, count - count / 2}},
                            [](std::size_t, std::size_t, std::span<const std::byte>) {});
  }
}

TEST(HostileManifest, IsMutated) {
  const std::string honest_rest = encode(honest()).substr(kFirstLine);
  int num_accepted = 0;
  for (int seed = 0; seed < rounds(20'000, 1'000'000); ++seed) {
    TextMutator mutate(static_cast<std::uint64_t>(seed));
    const std::string text = sealed(mutate(honest_rest));
    const auto decoded = decode_manifest(text);
    if (!decoded) {
      const ErrorCode code = decoded.error().code();
      ASSERT_TRUE(code == ErrorCode::kCorrupt || code == ErrorCode::kUnsupported) << seed;
      continue;
    }
    ++num_accepted;
    ASSERT_TRUE(decode_manifest(encode(*decoded))) << seed;
    read_all(*decoded, text);
  }
  EXPECT_GT(num_accepted, 0);
}

TEST(HostileHeader, IsMutated) {
  const std::vector<std::byte> bytes(24);
  const std::vector<TensorView> tensors{{.name = "a", .dtype = DType::kF32, .shape = {2, 3}, .bytes = bytes},
                                        {.name = "b", .dtype = DType::kI64, .shape = {3}, .bytes = bytes}};
  const std::string header = state::make_header(tensors, {{"k", "v"}})->substr(state::kLengthBytes);
  ASSERT_TRUE(state::parse_header(header));
  int num_accepted = 0;
  for (int seed = 0; seed < rounds(20'000, 1'000'000); ++seed) {
    const auto parsed = state::parse_header(TextMutator(static_cast<std::uint64_t>(seed))(header));
    if (!parsed) {
      ASSERT_EQ(parsed.error().code(), ErrorCode::kCorrupt);
    }
    num_accepted += parsed ? 1 : 0;
  }
  EXPECT_GT(num_accepted, 0);
}

}  // namespace
}  // namespace cohort::checkpoint
