#include "interchange/write_torch_file.h"

#include "golden_files.h"
#include "soak.h"
#include "storage/faulty_file_system.h"
#include "storage/whole_file.h"

#include <gtest/gtest.h>
#include <limits>

namespace cohort::test {
namespace {

using namespace interchange;  // NOLINT: the subject of all tests here

std::string written(const Value& root, const OutgoingTensors& tensors) {
  MemoryFileSystem fs;
  value_or_throw(write_torch_file(fs, "y.pt", root, tensors));
  return value_or_throw(read_file(fs, "y.pt"));
}

TEST(WriteTorchFile, WritesValuesThatAreReadAgain) {
  Dict inner{.entries = {}, .kind = DictKind::kOrderedDict};
  inner.add("x", Value());
  Dict root;
  root.add("a", List{.items = {1, -1, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::min(), true,
                               0.1}});
  root.add(7, Tuple{.items = {"Grüße", Bytes{.bytes = std::string("\0\x7f\x80\xff", 4)}, Tuple{}, List{}}});
  root.add("inner", std::move(inner));
  const OpenedFile opened(written(root, OutgoingTensors()));
  ASSERT_EQ(opened.failure(), "");
  EXPECT_EQ(opened.file().root(), Value(root));
}

TEST(WriteTorchFile, WritesTensorsThatAreReadAgain) {
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  OutgoingTensors tensors;
  Dict root;
  root.add("matrix", tensors.add(DType::kF32, {2, 3}, std::as_bytes(std::span(numbers))));
  root.add("empty", tensors.add(DType::kI64, {0, 2}, std::span<const std::byte>()));
  root.add("step", tensors.add_step(3));
  root.add("many", tensors.add_step((1 << 24) + 1));
  for (const DType dtype : kAllDTypes) {
    root.add(std::string(name(dtype)),
             tensors.add(dtype, {1}, std::as_bytes(std::span(numbers)).first(size_bytes(dtype))));
  }
  const std::string content = written(root, tensors);
  const OpenedFile opened(content);
  ASSERT_EQ(opened.failure(), "");
  EXPECT_EQ(opened.file().root(), Value(root));
  EXPECT_EQ(opened.numbers_of<float>(*opened.at({"matrix"}).as<StoredTensor>()), numbers);
  EXPECT_EQ(opened.numbers_of<float>(*opened.at({"step"}).as<StoredTensor>()), std::vector<float>{3});
  EXPECT_EQ(opened.numbers_of<double>(*opened.at({"many"}).as<StoredTensor>()),
            std::vector<double>{(1 << 24) + 1});
  EXPECT_TRUE(opened.file().check());
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), 24);
  EXPECT_EQ(content.find(bytes) % 64, 0u) << "data begin at a multiple of 64";
}

TEST(WriteTorchFile, RefusesObjects) {
  MemoryFileSystem fs;
  const Status status =
      write_torch_file(fs, "y.pt", Object{.type = "torch.device", .content = {}}, OutgoingTensors());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            "an object of type torch.device cannot be written, expected plain data");
  EXPECT_FALSE(*fs.exists("y.pt"));
}

TEST(WriteTorchFile, LeavesTheOldFileAfterAnError) {
  MemoryFileSystem fs(2000);
  put_file(fs, "y.pt", "old");
  OutgoingTensors tensors;
  const std::vector<std::byte> large(4000);
  const Value root = tensors.add(DType::kU8, {4000}, large);
  EXPECT_EQ(write_torch_file(fs, "y.pt", root, tensors).error().code(), ErrorCode::kDiskFull);
  EXPECT_EQ(value_or_throw(read_file(fs, "y.pt")), "old");
}

TEST(WriteTorchFile, TakesLengthsAtTheirWord) {
  MemoryFileSystem fs;
  OutgoingTensors tensors;
  const Value root = tensors.add(
      DType::kU8, {3}, [](WritableFile& file) { return file.append(std::as_bytes(std::span("ab", 2))); });
  EXPECT_THROW((void)write_torch_file(fs, "y.pt", root, tensors), BugError);
}

/// A file of which only the bytes that are not zero are kept, so that it may be larger than memory.
class SparseFile final : public WritableFile, public ReadableFile {
 public:
  Status append(std::span<const std::byte> bytes) override {
    const bool is_zero =
        std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
    if (!is_zero) parts_[end_].assign(bytes.begin(), bytes.end());
    end_ += bytes.size();
    return {};
  }
  Status sync() override { return {}; }
  Status close() override { return {}; }
  Result<std::uint64_t> size_bytes() override { return end_; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    std::fill(into.begin(), into.end(), std::byte{0});
    for (const auto& [begin, bytes] : parts_) {
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (begin + i >= offset && begin + i < offset + into.size()) into[begin + i - offset] = bytes[i];
      }
    }
    return std::min<std::uint64_t>(into.size(), end_ - std::min(offset, end_));
  }

 private:
  std::map<std::uint64_t, std::vector<std::byte>> parts_;
  std::uint64_t end_ = 0;
};

// A file of more than 4 GiB has numbers of 64 bits: lengths in the first entry, offsets in the second.
TEST(LargeZips, HaveNumbersOf64Bits) {
  const std::uint64_t kPart = std::uint64_t{1} << 20, num_parts = rounds<std::uint64_t>(3, 4097);
  SparseFile file;
  ZipWriter zip(file);
  value_or_throw(zip.add("a/large", num_parts * kPart, [&](WritableFile& out) -> Status {
    const std::vector<std::byte> zeros(kPart);
    for (std::uint64_t i = 0; i < num_parts; ++i) COHORT_RETURN_IF_ERROR(out.append(zeros));
    return {};
  }));
  value_or_throw(zip.add("a/small", std::as_bytes(std::span("abc", 3))));
  value_or_throw(zip.finish());
  const auto archive = ZipArchive::open(value_or_throw(FileWindow::whole(file)));
  ASSERT_TRUE(archive) << archive.error().text();
  EXPECT_EQ(archive->find("a/large")->data.size_bytes(), num_parts * kPart);
  EXPECT_EQ(archive->find("a/large")->data.place(0) % 64, 0u);
  EXPECT_TRUE(check_crc(*archive->find("a/small")));
  EXPECT_TRUE(check_crc(*archive->find("a/large")));
}

}  // namespace
}  // namespace cohort::test
