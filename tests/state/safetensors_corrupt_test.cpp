#include "state/safetensors.h"
#include "storage/memory_file_system.h"
#include "storage/whole_file.h"
#include "tensors.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

const std::string kPrefix = "corrupt: cannot read safetensors file 'model': ";

std::string opened(const std::string& content) {
  MemoryFileSystem fs;
  put(fs, "model", content);
  const std::string text = failure(SafetensorsFile::open(fs, "model"));
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

/// The error of reading a file that has one tensor with these members.
std::string entry(const std::string& members, const std::string& data = "ABCD") {
  return opened(framed(R"({"a":{)" + members + "}}", data));
}

std::string valid_file() {
  return framed(R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                R"("b":{"dtype":"I8","shape":[3,1],"data_offsets":[4,7]}})",
                "ABCDEFG");
}

TEST(CorruptSafetensors, AreCutAnywhere) {
  const std::string whole = valid_file();
  ASSERT_EQ(opened(whole), "");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    MemoryFileSystem fs;
    put(fs, "model", whole.substr(0, length));
    EXPECT_TRUE(failure(SafetensorsFile::open(fs, "model")).starts_with(kPrefix)) << length;
  }
  EXPECT_EQ(opened(whole + "x"), "1 bytes after the last tensor belong to none");
}

TEST(CorruptSafetensors, MayHaveAnyBitFlipped) {
  const std::string whole = valid_file();
  for (std::size_t bit = 0; bit < 8 * (whole.size() - 7); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    MemoryFileSystem fs;
    put(fs, "model", flipped);
    const auto file = SafetensorsFile::open(fs, "model");
    if (!file) {
      EXPECT_TRUE(failure(file).starts_with(kPrefix)) << failure(file);
      continue;
    }
    // A letter of a name, or another type of the same width: still a whole file.
    std::size_t size_bytes = 0;
    for (const TensorView& tensor : file->tensors()) size_bytes += tensor.bytes.size();
    EXPECT_EQ(size_bytes, 7u);
  }
}

TEST(CorruptSafetensors, HaveWrongLengths) {
  EXPECT_EQ(opened(""), "it has 0 bytes, fewer than the 8 of the header's length");
  EXPECT_EQ(opened(std::string(8, '\xff')),
            "its header claims 18446744073709551615 bytes; 100000000 are allowed");
  EXPECT_EQ(opened(framed("{}").substr(0, 9)), "its header claims 2 bytes; 1 are there");
  EXPECT_EQ(opened(framed("")), "the header has 0 bytes, expected 2 or more");
}

TEST(CorruptSafetensors, HaveAWrongHeader) {
  EXPECT_EQ(opened(framed("[]")), "byte 1 of the header is 0x5b, expected 0x7b ('{')");
  EXPECT_EQ(opened(framed(" {}")), "byte 1 of the header is 0x20, expected 0x7b ('{')");
  EXPECT_EQ(opened(framed("{} x")), "byte 4 of the header is 0x78, expected JSON");
  EXPECT_EQ(opened(framed(std::string("{}\0", 3))), "byte 3 of the header is 0x00, expected JSON");
  EXPECT_EQ(opened(framed("{\"\xff\":1}")), "byte 3 of the header is 0xff, expected JSON");
  EXPECT_EQ(opened(framed("{\"a\":")), "the header ends after byte 5, expected more JSON");
  EXPECT_EQ(opened(framed(R"({"a":1})")), "'a' has a number where the format has none");
  EXPECT_EQ(opened(framed(R"({"a":[]})")), "'a' has an array where the format has none");
  EXPECT_EQ(opened(framed(R"({"a":null})")), "'a' has null where the format has none");
  EXPECT_EQ(opened(framed(R"({"a":"text"})")), "'a' has a text where the format has none");
  EXPECT_EQ(opened(framed(R"({"a":{}})")), "'a' lacks dtype, shape or data_offsets");
  EXPECT_EQ(opened(framed(R"({"__metadata__":{"k":1}})")),
            "'__metadata__' has a number where the format has none");
  EXPECT_EQ(opened(framed(R"({"__metadata__":{"k":{}}})")),
            "'__metadata__' has an object where the format has none");
  EXPECT_EQ(opened(framed(R"({"__metadata__":{"k":"a","k":"b"}})")), "'k' of the metadata occurs twice");
  EXPECT_EQ(opened(framed(R"({"__metadata__":{},"__metadata__":{}})")), "'__metadata__' occurs twice");
  EXPECT_EQ(opened(framed(std::string(100000, '{'))), "byte 2 of the header is 0x7b, expected JSON");
}

TEST(CorruptSafetensors, HaveWrongMembers) {
  const std::string good = R"("dtype":"F32","shape":[1],"data_offsets":[0,4])";
  ASSERT_EQ(entry(good), "");
  EXPECT_EQ(entry(good + R"(,"more":1)"), "'a' has an unknown member 'more'");
  EXPECT_EQ(entry(good + R"(,"dtype":"F32")"), "'a' has 'dtype' twice");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1])"), "'a' lacks dtype, shape or data_offsets");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"),
            "'a' has an array in an array where the format has none");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":{},"data_offsets":[0,4])"),
            "'a' has an object where the format has none");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])"),
            "'a' has a text where the format has none");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"),
            "'a' has a negative number where the format has none");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"),
            "'a' has a number that is not whole where the format has none");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), "'a' has not two data_offsets");
  EXPECT_EQ(entry(R"("dtype":["F32"],"shape":[1],"data_offsets":[0,4])"),
            "'a' has an array where the format has none");
  EXPECT_EQ(entry(R"("dtype":7,"shape":[1],"data_offsets":[0,4])"),
            "'a' has a number where the format has none");
  EXPECT_EQ(entry(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])"),
            "tensor 'a' has the unknown type 'F31'");
}

TEST(CorruptSafetensors, HaveTensorsThatDoNotFit) {
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"),
            "tensor 'a' has 4 bytes where its shape needs 8");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])"), "tensor 'a' ends at byte 8 of 4");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), "tensor 'a' ends before it begins");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[1],"data_offsets":[1,5])", "ABCDE"),
            "before tensor 'a' there is a gap");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"),
            "tensor 'a' has an impossible shape");
  EXPECT_EQ(entry(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])"),
            "'a' has a number beyond 63 bits where the format has none");
  EXPECT_EQ(opened(framed(R"({"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]},)"
                          R"("b":{"dtype":"I8","shape":[3],"data_offsets":[3,6]}})",
                          "ABCDEF")),
            "tensor 'b' overlaps the one before it");
}

TEST(CorruptSafetensors, AreNotThoseWithTypesThatAreMerelyUnknownHere) {
  EXPECT_EQ(entry(R"("dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4])"),
            "unsupported: cannot read safetensors file 'model': tensor 'a' has type F8_E4M3, which is not "
            "supported. "
            "Convert it to F32 or BF16 with the program that wrote it.");
}

TEST(AbsentSafetensors, AreNotFound) {
  MemoryFileSystem fs;
  const auto file = SafetensorsFile::open(fs, "model");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace cohort
