#include "interchange/dcp.h"
#include "golden_files.h"
#include "opcodes.h"
#include "state/move.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace interchange;  // NOLINT: the subject of all tests here

/// The golden directory, with changes to its metadata.
struct Directory {
  explicit Directory(const std::string& from = "", const std::string& to = "") {
    put_golden_dcp(fs);
    std::string metadata = golden_file("dcp/.metadata");
    if (!from.empty()) {
      const std::size_t place = metadata.find(from);
      EXPECT_NE(place, std::string::npos) << from;
      put_file(fs, "dcp/.metadata", metadata.replace(place, from.size(), to));
    }
  }
  std::string failure() {
    const auto dcp = open_dcp(fs, "dcp");
    const std::string text = dcp ? "" : std::string(name(dcp.error().code())) + ": " + dcp.error().text();
    const std::string context = "cannot read checkpoint metadata 'dcp/.metadata': ";
    const std::size_t begin = text.find(context);
    return begin == std::string::npos ? text : text.substr(0, begin) + text.substr(begin + context.size());
  }
  MemoryFileSystem fs{};
};

TEST(Dcp, HasTensorsAndValues) {
  Directory directory;
  const DcpDirectory dcp = value_or_throw(open_dcp(directory.fs, "dcp"));
  ASSERT_EQ(dcp.tensors().size(), 1u);
  EXPECT_EQ(dcp.tensors()[0].name, "model.weight");
  EXPECT_EQ(dcp.tensors()[0].shape, (Shape{2, 3}));
  EXPECT_EQ(dcp.value_names(), std::vector<std::string>{"step"});
  EXPECT_EQ(value_or_throw(dcp.value("step")), Value(4));
  EXPECT_EQ(dcp.value("other").error().code(), ErrorCode::kNotFound);
}

TEST(Dcp, IsMovedToAnyLayout) {
  Directory directory;
  const DcpDirectory dcp = value_or_throw(open_dcp(directory.fs, "dcp"));
  const std::vector<std::string> rules = {"model.* -> *"};
  DcpPieces source(dcp, value_or_throw(NameRules::parse(rules)));
  std::array<float, 4> columns{};
  const Piece wanted[] = {{.name = "weight",
                           .dtype = DType::kF32,
                           .shape = {2, 3},
                           .mine = {{{{0, 1}, {2, 2}}}, 0, 4},
                           .merge = Merge::kSame,
                           .bytes = std::as_writable_bytes(std::span(columns))}};
  const Status moved = state::move(wanted, source);
  ASSERT_TRUE(moved) << moved.error().text();
  EXPECT_EQ(columns, (std::array<float, 4>{1, 2, 4, 5}));
}

TEST(Dcp, IsNoDirectoryWithoutMetadata) {
  MemoryFileSystem fs;
  EXPECT_EQ(open_dcp(fs, "dcp").error().code(), ErrorCode::kNotFound);
}

TEST(Dcp, IsRefused) {
  EXPECT_EQ(
      Directory("_StorageInfo", "_StoragXInfo").failure().find("unsupported: the pickle names the global"),
      0u);
  EXPECT_EQ(Directory("\x0c__0_0.distcp", "\x0c../../secret").failure().substr(0, 200),
            "corrupt: the metadata are malformed: relative_path is '../../secret', expected a file of the "
            "directory");
  EXPECT_EQ(Directory("relative_path", "relative_pxth").failure(),
            "corrupt: the metadata are malformed: field relative_path is missing");
  EXPECT_EQ(Directory("storage_data", "storage_dxta").failure(),
            "corrupt: the metadata are malformed: field storage_data is missing");
  EXPECT_EQ(Directory("MetadataIndex", "StorageMetaXX").failure().find("unsupported"), 0u);
}

std::string classes(const std::string& name) {
  return global("torch.distributed.checkpoint.metadata", name) + ")\x81";
}

std::string sizes(std::initializer_list<int> all) {
  std::string items;
  for (const int size : all) items += number(size);
  return global("torch", "Size") + tuple(tuple(items)) + "R";
}

/// Metadata of a tensor of this shape with one chunk.
std::string metadata_failure(const std::string& shape, const std::string& first, const std::string& lengths,
                             int size_bytes = 1000) {
  const std::string chunk =
      classes("ChunkStorageMetadata") + "}(" + text("offsets") + first + text("sizes") + lengths + "ub";
  const std::string properties = classes("TensorProperties") + tuple(global("torch", "float32")) + "b";
  const std::string tensor = classes("TensorStorageMetadata") + "}(" + text("properties") + properties +
                             text("size") + shape + text("chunks") + "](" + chunk + "eub";
  const std::string index =
      classes("MetadataIndex") + "}(" + text("fqn") + text("w") + text("offset") + first + "ub";
  const std::string info = global("torch.distributed.checkpoint.filesystem", "_StorageInfo") + ")\x81}(" +
                           text("relative_path") + text("f") + text("offset") + number(0) + text("length") +
                           number(size_bytes) + "ub";
  const auto unpickled_metadata =
      unpickled(classes("Metadata") + "}(" + text("state_dict_metadata") + "}(" + text("w") + tensor + "u" +
                    text("storage_data") + "}(" + index + info + "uub",
                dcp_globals());
  const auto metadata = dcp_metadata_in(value_or_throw(unpickled_metadata).value);
  return metadata ? "" : metadata.error().root().message();
}

TEST(Dcp, HasChunksThatDoNotFit) {
  EXPECT_EQ(metadata_failure(sizes({4, 3}), sizes({0, 0}), sizes({4, 3})), "");
  EXPECT_EQ(metadata_failure(sizes({}), sizes({}), sizes({})), "");
  EXPECT_EQ(metadata_failure(sizes({4, 3}), sizes({0, 0}), sizes({3, 3})),
            "the metadata are malformed: chunks have 36 bytes, expected 48");
  EXPECT_EQ(metadata_failure(sizes({4, 3}), sizes({1, 0}), sizes({4, 3}))
                .find("the metadata are malformed: a chunk is "
                      "not inside its tensor"),
            0u);
  EXPECT_EQ(metadata_failure(sizes({400, 3}), sizes({0, 0}), sizes({400, 3})),
            "the metadata are malformed: a chunk has 1200 elements in 1000 bytes");
  EXPECT_EQ(metadata_failure(sizes({1 << 30, 1 << 30, 1 << 30}), sizes({0, 0, 0}), sizes({1, 1, 1})),
            "the metadata are malformed: chunks have 4 bytes, expected fewer than 2^63");
  EXPECT_NE(metadata_failure(sizes({1 << 30, 1 << 30, 1 << 30}), sizes({0, 0, 0}),
                             sizes({1 << 30, 1 << 30, 1 << 30})),
            "");
  EXPECT_EQ(metadata_failure(sizes({-1}), sizes({0}), sizes({1})),
            "the metadata are malformed: field size has an integer, expected integers from 0 on");
}

TEST(Dcp, HasChunksOfAnotherShapeThanItsMetadata) {
  Directory directory;
  std::string items = golden_file("dcp/__0_0.distcp");
  const DcpDirectory dcp = value_or_throw(open_dcp(directory.fs, "dcp"));
  const DcpPlace weight = dcp.tensors()[0].chunks[0].place;
  const std::string both = items.substr(weight.offset == 0 ? weight.size_bytes : 0);
  EXPECT_FALSE(open_torch_part(directory.fs, "dcp/__0_0.distcp", weight.offset + 1, weight.size_bytes));
  put_file(directory.fs, "dcp/__0_0.distcp", std::string(items.size(), '\0'));
  DcpPieces source(dcp);
  const state::Read whole{.held = 0, .from = 0, .count = 6};
  const Status read =
      source.read(std::span(&whole, 1), [](std::size_t, std::size_t, std::span<const std::byte>) {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(), "cannot read 'model.weight'");
}

}  // namespace
}  // namespace cohort::test
