#include "state/safetensors.h"

#include "base/checksum.h"
#include "storage/faulty_file_system.h"
#include "storage/whole_file.h"
#include "tensors.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

using Metadata = std::map<std::string, std::string>;

// One tensor of every type, an empty one, a scalar, and names that JSON must quote.
struct Sample {
  std::vector<std::string> contents;
  std::vector<TensorView> tensors;

  Sample() {
    contents.reserve(64);
    for (const DType dtype : kAllDTypes) add("all." + std::string(name(dtype)), dtype, {3, 5});
    add("empty", DType::kF32, {4, 0, 2});
    add("scalar", DType::kF64, {});
    add("quo\"te\\ \n ü 名", DType::kU8, {7});
    add("", DType::kBool, {1});
  }

  void add(const std::string& tensor_name, DType dtype, std::vector<std::int64_t> shape) {
    std::size_t size = size_bytes(dtype);
    for (const std::int64_t dim : shape) size *= static_cast<std::size_t>(dim);
    std::string content(size, ' ');
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(contents.size() * 31 + i);
    contents.push_back(std::move(content));
    tensors.push_back(
        {.name = tensor_name, .dtype = dtype, .shape = std::move(shape), .bytes = bytes_of(contents.back())});
  }
};

void expect_equal(std::span<const TensorView> found, std::span<const TensorView> expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, expected[i].name);
    EXPECT_EQ(found[i].dtype, expected[i].dtype) << found[i].name;
    EXPECT_EQ(found[i].shape, expected[i].shape) << found[i].name;
    EXPECT_EQ(text_of(found[i].bytes), text_of(expected[i].bytes)) << found[i].name;
  }
}

TEST(Safetensors, ComeBackAsTheyWere) {
  MemoryFileSystem fs;
  const Sample sample;
  const Metadata metadata = {{"format", "pt"}, {"ü\"", "two\nlines"}};
  ASSERT_EQ(failure(write_safetensors(fs, "model", sample.tensors, metadata)), "");
  SafetensorsFile opened = value_or_throw(SafetensorsFile::open(fs, "model"));
  const SafetensorsFile file = std::move(opened);
  expect_equal(file.tensors(), sample.tensors);
  EXPECT_EQ(file.metadata(), metadata);
  EXPECT_EQ(parameters_hash(file.tensors()), parameters_hash(sample.tensors));
  for (const TensorView& tensor : sample.tensors) {
    ASSERT_NE(file.find(tensor.name), nullptr);
    EXPECT_EQ(text_of(file.find(tensor.name)->bytes), text_of(tensor.bytes));
  }
  EXPECT_EQ(file.find("absent"), nullptr);
}

TEST(Safetensors, MayBeNone) {
  MemoryFileSystem fs;
  ASSERT_TRUE(write_safetensors(fs, "model", {}, {}));
  const SafetensorsFile file = value_or_throw(SafetensorsFile::open(fs, "model"));
  EXPECT_TRUE(file.tensors().empty());
  EXPECT_TRUE(file.metadata().empty());
}

TEST(Safetensors, HaveTheseBytes) {
  MemoryFileSystem fs;
  const TensorView tensors[] = {
      {.name = "w", .dtype = DType::kF32, .shape = {1, 2}, .bytes = bytes_of("ABCDEFGH")},
      {.name = "b", .dtype = DType::kI16, .shape = {}, .bytes = bytes_of("IJ")}};
  ASSERT_TRUE(write_safetensors(fs, "model", tensors, {{"step", "7"}}));
  const std::string header = R"({"__metadata__":{"step":"7"},)"
                             R"("w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"I16","shape":[],"data_offsets":[8,10]}})";
  const std::string padded = header + std::string(184 - header.size(), ' ');
  EXPECT_EQ(*read_file(fs, "model"), framed(padded, "ABCDEFGHIJ"));
}

TEST(Safetensors, BeginAtAMultipleOf64Bytes) {
  MemoryFileSystem fs;
  for (std::size_t length = 0; length < 130; ++length) {
    const TensorView tensor{
        .name = std::string(length, 'n'), .dtype = DType::kF32, .shape = {1}, .bytes = bytes_of("ABCD")};
    ASSERT_TRUE(write_safetensors(fs, "model", std::span(&tensor, 1), {}));
    const std::string content = *read_file(fs, "model");
    EXPECT_EQ((content.size() - 4) % 64, 0u);
    const SafetensorsFile file = value_or_throw(SafetensorsFile::open(fs, "model"));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.tensors()[0].bytes.data()) % 64, 0u);
  }
}

TEST(Safetensors, AreReadInTheOrderOfTheirBytesWhateverTheHeadersOrder) {
  MemoryFileSystem fs;
  put(fs, "model",
      framed(R"({"b":{"shape":[2],"data_offsets":[2,4],"dtype":"U8"},
                 "none":{"dtype":"F32","data_offsets":[2,2],"shape":[0]},
                 "a":{"dtype":"BOOL","shape":[1,2],"data_offsets":[0,2]}}  )",
             "abcd"));
  const SafetensorsFile file = value_or_throw(SafetensorsFile::open(fs, "model"));
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.tensors()[1].name, "none");
  EXPECT_EQ(text_of(file.tensors()[2].bytes), "cd");
}

TEST(Safetensors, RefuseNamesThatTheFormatCannotHold) {
  MemoryFileSystem fs;
  const auto written = [&](const std::string& a, const std::string& b) {
    const TensorView tensors[] = {{.name = a, .dtype = DType::kU8, .shape = {1}, .bytes = bytes_of("A")},
                                  {.name = b, .dtype = DType::kU8, .shape = {1}, .bytes = bytes_of("B")}};
    return failure(write_safetensors(fs, "model", tensors, {}));
  };
  EXPECT_EQ(written("a", "a"), "usage: cannot write safetensors file 'model': there are two tensors 'a'");
  EXPECT_EQ(
      written("a", "__metadata__"),
      "usage: cannot write safetensors file 'model': the format keeps the name '__metadata__' for itself");
  EXPECT_EQ(written("a", "\xff"),
            "usage: cannot write safetensors file 'model': a name or a text of the metadata is not UTF-8");
  EXPECT_FALSE(*fs.exists("model"));
}

TEST(Safetensors, RefuseBytesThatDoNotFitTheShape) {
  MemoryFileSystem fs;
  const TensorView short_one{.name = "a", .dtype = DType::kF32, .shape = {2}, .bytes = bytes_of("ABCD")};
  EXPECT_THROW((void)write_safetensors(fs, "model", std::span(&short_one, 1), {}), BugError);
  const TensorView negative{.name = "a", .dtype = DType::kF32, .shape = {-1}, .bytes = {}};
  EXPECT_THROW((void)write_safetensors(fs, "model", std::span(&negative, 1), {}), BugError);
}

TEST(Safetensors, LeaveTheOldFileWhicheverCallFails) {
  const Sample sample;
  std::uint64_t call = 1;
  for (bool met = true; met; ++call) {
    MemoryFileSystem disk;
    put(disk, "model", "old");
    FaultyFileSystem fs(disk, {.fail_call = call, .code = ErrorCode::kDiskFull});
    const Status written = write_safetensors(fs, "model", sample.tensors, {});
    met = fs.calls() >= call;
    EXPECT_EQ(written.has_value(), !met);
    const std::string content = *read_file(disk, "model");
    EXPECT_TRUE(content == "old" || SafetensorsFile::open(disk, "model").has_value()) << "call " << call;
    EXPECT_EQ(value_or_throw(disk.list(".")), std::vector<std::string>{"model"}) << "call " << call;
  }
  // The header and every tensor with bytes are appended on their own.
  EXPECT_GT(call, sample.tensors.size());
}

TEST(Safetensors, OfAFullDiskNameTheFile) {
  MemoryFileSystem fs(100);
  const Sample sample;
  const std::string text = failure(write_safetensors(fs, "model", sample.tensors, {}));
  EXPECT_EQ(text.find("disk_full: cannot write safetensors file 'model'"), 0u) << text;
  EXPECT_TRUE(value_or_throw(fs.list(".")).empty());
}

}  // namespace
}  // namespace cohort
