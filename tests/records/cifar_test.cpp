#include "records/cifar.h"

#include "record_bytes.h"
#include "storage/memory_file_system.h"

#include <string>
#include <vector>

namespace cohort::records {
namespace {

// An image whose red, green and blue are one number each.
std::string image(std::initializer_list<int> labels, char red) {
  std::string bytes = bytes_from(labels);
  for (const int offset : {0, 1, 2}) bytes += std::string(1024, static_cast<char>(red + offset));
  return bytes;
}

class Cifar : public testing::Test {
 protected:
  Cifar() {
    EXPECT_TRUE(fs.make_directories("ten"));
    for (int i = 1; i <= 5; ++i) {
      put(fs, "ten/data_batch_" + std::to_string(i) + ".bin",
          image({i}, static_cast<char>(10 * i)) + image({0}, static_cast<char>(10 * i + 5)));
    }
    put(fs, "ten/test_batch.bin", image({9}, 1));
    put(fs, "ten/batches.meta.txt", "airplane\nautomobile\r\n\nbird\n");
  }

  int first_pixel(const LabelledImages& images, std::uint64_t index) {
    std::vector<std::byte> bytes(3072);
    EXPECT_TRUE(images.images.read(index, bytes));
    EXPECT_EQ(std::to_integer<int>(bytes[1023]), std::to_integer<int>(bytes[0]));
    EXPECT_EQ(std::to_integer<int>(bytes[2048]), std::to_integer<int>(bytes[0]) + 2) << "blue";
    return std::to_integer<int>(bytes[0]);
  }

  MemoryFileSystem fs;
};

TEST_F(Cifar, TenClassesInFiveFiles) {
  const auto found = find_cifar(fs, "ten", "", FolderTest::kUsed);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->test, std::vector<std::string>{"ten/test_batch.bin"});
  const auto images = open_cifar(fs, found->train, found->class_names);
  ASSERT_TRUE(images) << images.error().text();
  EXPECT_EQ(images->classes, (std::vector<std::int64_t>{1, 0, 2, 0, 3, 0, 4, 0, 5, 0}));
  EXPECT_EQ(images->image_shape, (std::vector<std::int64_t>{3, 32, 32}));
  EXPECT_EQ(images->class_names, (std::vector<std::string>{"airplane", "automobile", "bird"}));
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(first_pixel(*images, i), static_cast<int>(10 * (i / 2 + 1) + i % 2 * 5)) << i;
  }
  EXPECT_TRUE(find_cifar(fs, "ten", "", FolderTest::kLeftAside)->test.empty());
  EXPECT_EQ(find_cifar(fs, "ten", "other.bin", FolderTest::kLeftAside)->test,
            std::vector<std::string>{"other.bin"});
}

TEST_F(Cifar, AHundredClassesHaveASuperclassInFront) {
  ASSERT_TRUE(fs.make_directories("hundred"));
  put(fs, "hundred/train.bin", image({19, 11}, 7) + image({0, 99}, 8));
  const auto found = find_cifar(fs, "hundred", "", FolderTest::kUsed);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_TRUE(found->test.empty());
  const auto images = open_cifar(fs, found->train, found->class_names);
  ASSERT_TRUE(images) << images.error().text();
  EXPECT_EQ(images->classes, (std::vector<std::int64_t>{11, 99}));
  EXPECT_EQ(first_pixel(*images, 1), 8);
}

TEST_F(Cifar, OneFilePlainOrPacked) {
  put(fs, "one.bin.gz", gzipped(image({3}, 4)));
  const auto images = open_cifar(fs, find_cifar(fs, "one.bin.gz", "", FolderTest::kUsed)->train, "");
  ASSERT_TRUE(images) << images.error().text();
  EXPECT_EQ(images->classes, std::vector<std::int64_t>{3});
  EXPECT_EQ(first_pixel(*images, 0), 4);
}

TEST_F(Cifar, MistakesNameTheFile) {
  ASSERT_TRUE(fs.remove("ten/data_batch_3.bin"));
  EXPECT_EQ(text_of(find_cifar(fs, "ten", "", FolderTest::kUsed)),
            "'ten' has 'data_batch_1.bin', but not 'data_batch_3.bin'. Unpack the whole archive, or name one "
            "of the files.");
  ASSERT_TRUE(fs.make_directories("empty"));
  EXPECT_EQ(text_of(find_cifar(fs, "empty", "", FolderTest::kUsed)),
            "there is neither 'data_batch_1.bin' nor 'train.bin' in 'empty'. Name the folder of the binary "
            "version of "
            "CIFAR-10 or CIFAR-100.");
  EXPECT_EQ(code_name(find_cifar(fs, "nowhere", "", FolderTest::kUsed)), "not_found");
  put(fs, "cut.bin", image({1}, 1).substr(1));
  EXPECT_EQ(
      text_of(open_cifar(fs, {"cut.bin"}, "")),
      "'cut.bin' has 3072 bytes, expected a multiple of 3073 for CIFAR-10 or of 3074 for CIFAR-100. Take the "
      "binary version of the set, or get the file again.");
  put(fs, "none.bin", "");
  EXPECT_EQ(code_name(open_cifar(fs, {"none.bin"}, "")), "corrupt");
  put(fs, "wrong.bin", image({1}, 1) + image({10}, 1));
  EXPECT_EQ(text_of(open_cifar(fs, {"wrong.bin"}, "")),
            "'wrong.bin' has the class 10 for image 1, expected 0 to 9 for CIFAR-10");
  put(fs, "hundred.bin", image({1, 1}, 1));
  EXPECT_EQ(text_of(open_cifar(fs, {"ten/test_batch.bin", "hundred.bin"}, "")),
            "'hundred.bin' is CIFAR-100, but 'ten/test_batch.bin' is CIFAR-10");
}

}  // namespace
}  // namespace cohort::records
