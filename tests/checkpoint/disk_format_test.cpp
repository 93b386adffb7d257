#include "base/checksum.h"
#include "checkpoint/golden_state.h"
#include "checkpoint/shard_writer.h"
#include "checkpoint/snapshot_folder.h"
#include "layout/slice.h"
#include "state/safetensors_header.h"
#include "storage/content.h"
#include "storage/local_file_system.h"
#include "storage/memory_file_system.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

// The claims of docs/disk-format.md that other tests do not check.

namespace cohort::test {
namespace {

using checkpoint::Manifest;

const std::string kExample = std::string(COHORT_GOLDEN) + "/example/step-000000000001/";

std::string page() {
  LocalFileSystem files;
  return content_of(files, COHORT_DISK_FORMAT);
}

std::string hex_lines(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{:02x}{}", static_cast<unsigned char>(bytes[i]), i % 32 == 31 ? "\n" : " ");
    if (i % 32 == 31) continue;
    if (i + 1 == bytes.size()) text.back() = '\n';
  }
  return text;
}

// A manifest of the example after an edit of its text, with a seal that fits.
Result<Manifest> edited(const std::string& from, const std::string& to) {
  LocalFileSystem files;
  std::string text = content_of(files, kExample + "manifest.json");
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const std::string rest = text.substr(29);
  const std::uint64_t hash = content_hash(std::as_bytes(std::span(rest)));
  return checkpoint::decode_manifest(fmt::format("{{\"hash\": \"{:016x}\",\n{}", hash, rest));
}

TEST(DiskFormat, TheExampleIsTheGoldenFile) {
  LocalFileSystem files;
  std::string text = page();
  const bool writes = std::getenv("COHORT_WRITE_GOLDEN") != nullptr;
  for (const std::string file :
       {"manifest.json", "model-00001-of-00001.safetensors", "model.safetensors.index.json"}) {
    const std::string content = content_of(files, kExample + file);
    const std::string expected = file.ends_with(".json") ? content : hex_lines(content);
    const std::size_t mark = text.find(fmt::format("<!-- golden: {} -->\n```", file));
    ASSERT_NE(mark, std::string::npos) << file;
    const std::size_t first = text.find('\n', text.find("```", mark)) + 1, last = text.find("```", first);
    if (writes) text.replace(first, last - first, expected);
    if (!writes) {
      EXPECT_EQ(text.substr(first, last - first), expected);
    }
  }
  if (writes) put(files, COHORT_DISK_FORMAT, text);
}

TEST(DiskFormat, NamesAndNumbersOfThePage) {
  EXPECT_EQ(fmt::format("{:016x}", content_hash({})), "2d06800538d394c2");
  EXPECT_EQ(checkpoint::kFormatVersion, 1);
  EXPECT_EQ(checkpoint::kBlockBytes, 1048576u);
  EXPECT_EQ(checkpoint::snapshot_name(500), "step-000000000500");
  EXPECT_EQ(checkpoint::step_of("step-1234567890123"), 1234567890123);
  for (const char* other :
       {"step-500", "step-0000000000500", "step-4611686018427387904", "step-00000000050x", "set-aside-1"}) {
    EXPECT_FALSE(checkpoint::step_of(other)) << other;
  }
  for (const char* claim :
       {"`2d06800538d394c2`", "Version 1.", "1048576 bytes", "step-000000000500/", "29 bytes"}) {
    EXPECT_NE(page().find(claim), std::string::npos) << claim;
  }
}

// Every field that the writer writes has a line in the page.
TEST(DiskFormat, ThePageNamesEveryField) {
  LocalFileSystem files;
  const std::string text = content_of(files, std::string(COHORT_GOLDEN) + "/step-000000000003/manifest.json");
  const std::string all = page();
  for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 1)) {
    const std::size_t end = text.find('"', at + 1);
    const std::string name = text.substr(at + 1, end - at - 1);
    at = end;
    if (text.substr(end, 2) != "\":" || name.find("train.") == 0 || name.find("model.") == 0 ||
        name == "data")
      continue;
    const bool is_there = all.find("`" + name + "`") != std::string::npos ||
                          all.find("`" + name + ".") != std::string::npos ||
                          all.find("." + name + "`") != std::string::npos;
    EXPECT_TRUE(is_there) << name;
  }
}

TEST(DiskFormat, WhatAReaderRefusesAndIgnores) {
  EXPECT_EQ(code_name(edited("\"kind\"", "\"later\": {\"a\": [1]},\n \"kind\"")), "");
  EXPECT_EQ(code_name(edited("\"steps_done\": 1", "\"steps_done\": \"?\"")), "");
  EXPECT_EQ(code_name(edited("\"version\": 1", "\"version\": 2")), "unsupported");
  const std::pair<const char*, const char*> refused[] = {
      {"\"full\"", "\"half\""},
      {"\"f32\"", "\"f31\""},
      {"\"same\"", "\"other\""},
      {"\"plain\"", "\"lz4\""},
      {"\"cohort snapshot\"", "\"another\""},
      {"\"base\": \"\"", "\"base\": \"step-000000000000\""},
      {"\"ranks\": 1", "\"ranks\": 0"},
      {"\"hosts\": 1", "\"hosts\": 16777217"},
      {"\"data\": 1", "\"data\": 0"},
      {"\"step\": 1", "\"step\": -1"},
      {"\"samples\": 4", "\"samples\": 9223372036854775808"},
      {"\"epoch\": 0", "\"epoch\": 0.5"},
      {"\"loss\": null", "\"loss\": \"1\""},
      {"\"train.seed\": \"1\"", "\"train.seed\": 1"},
      {"\"config\": \"\"", "\"confic\": \"\""},
      {"\"file\": \"model", "\"file\": \"../model"},
      {"\"file\": \"model", "\"file\": \".model"},
      {"\"bytes\": 24", "\"bytes\": 20"},
      {"\"first\": 128", "\"first\": 132"},
      {"\"first\": 128", "\"first\": 120"},
      {"      2,\n      3\n", "      576460752303423488\n"},
      {"dcd21c42ccaa9d2a", "dcd21c42ccaa9d2"},
      {"dcd21c42ccaa9d2a", "dcd21c42ccaa9d2g"},
  };
  for (const auto& [from, to] : refused)
    EXPECT_EQ(code_name(edited(from, to)), "corrupt") << from << " as " << to;
}

TEST(DiskFormat, TheSealIsComparedFirst) {
  LocalFileSystem files;
  std::string text = content_of(files, kExample + "manifest.json");
  EXPECT_EQ(text[28], '\n');
  text[text.find("\"version\": 1") + 11] = '2';
  const auto decoded = checkpoint::decode_manifest(text);
  EXPECT_EQ(code_name(decoded), "corrupt");
  EXPECT_NE(decoded.error().text().find("field 'hash'"), std::string::npos);
}

// The table of shards, and the names of parts.
TEST(DiskFormat, PiecesInAShard) {
  MemoryFileSystem files;
  std::vector<float> numbers(1000, 1);
  const auto bytes = std::as_writable_bytes(std::span(numbers));
  const auto piece = [&](std::string name, Slice mine) {
    return Piece{
        .name = std::move(name), .shape = {1000}, .mine = mine, .bytes = bytes.first(4 * mine.count)};
  };
  const std::vector<Piece> pieces{piece("a", flat_range({1000}, 0, 2)), piece("b", flat_range({1000}, 5, 3)),
                                  piece("a", flat_range({1000}, 7, 1)), piece("c", whole({1000}))};
  const auto shard =
      value_or_throw(checkpoint::write_shard(files, ".", "f", pieces, checkpoint::Compression::kZstd));
  EXPECT_EQ(shard.header_bytes % 64, 0u);
  const std::string header = content_of(files, "./f").substr(0, shard.header_bytes);
  const auto parsed = value_or_throw(state::parse_header(std::string_view(header).substr(8)));
  EXPECT_EQ(parsed.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
  const auto& c = shard.pieces[3];
  const std::pair<std::string, std::string> lines[] = {
      {"a@1", "F32 2"}, {"b@1", "F32 3"}, {"a@2", "F32 1"}, {"c", fmt::format("U8 {}", c.size_bytes)}};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& entry = parsed.entries[i];
    EXPECT_EQ((std::pair{entry.name, fmt::format("{} {}", entry.dtype, entry.shape.at(0))}), lines[i]);
    EXPECT_EQ(shard.pieces[i].tensor, lines[i].first);
    EXPECT_EQ(shard.pieces[i].first, shard.header_bytes + entry.data_offsets[0]);
  }
  const std::string frame = content_of(files, "./f").substr(c.first, c.size_bytes);
  EXPECT_EQ(frame.substr(0, 4), "\x28\xb5\x2f\xfd");  // the magic number of zstd
  EXPECT_EQ(c.hashes, std::vector{content_hash(std::as_bytes(std::span(frame)))});
}

}  // namespace
}  // namespace cohort::test
