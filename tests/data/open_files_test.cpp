#include "data/open.h"
#include "records/record_bytes.h"
#include "storage/memory_file_system.h"
#include "tensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

using records::bytes_from;
using records::gzipped;
using records::text_of;
using test::is_consistent;
using test::up_to;
using test::values;

// Images of 2 × 3 pixels; pixel p of image i is 10 * i + p + first.
std::string images(int count, int first = 0) {
  std::string bytes = bytes_from({0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 2, 0, 0, 0, 3});
  for (int i = 0; i < count; ++i) {
    for (int p = 0; p < 6; ++p) bytes += static_cast<char>(10 * i + p + first);
  }
  return bytes;
}

std::string labels(std::initializer_list<int> classes) {
  return bytes_from({0, 0, 8, 1, 0, 0, 0, static_cast<int>(classes.size())}) + bytes_from(classes);
}

DataConfig config_of(std::string kind, std::string path) {
  DataConfig config;
  config.kind = std::move(kind);
  config.path = std::move(path);
  config.tokens = "char";
  config.classes = 10;
  config.context = 3;
  return config;
}

class OpenFiles : public testing::Test {
 protected:
  OpenFiles() {
    EXPECT_TRUE(fs.make_directories("mnist"));
    put(fs, "mnist/train-images-idx3-ubyte.gz", gzipped(images(5)));
    put(fs, "mnist/train-labels-idx1-ubyte", labels({0, 1, 2, 1, 0}));
  }

  MemoryFileSystem fs;
};

TEST_F(OpenFiles, IdxFolderPlainOrPacked) {
  put(fs, "mnist/t10k-images-idx3-ubyte", images(2, 100));
  put(fs, "mnist/t10k-labels-idx1-ubyte.gz", gzipped(labels({3, 0})));
  const auto opened = open_data(fs, config_of("idx", "mnist"), 1);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->train->size(), 5);
  EXPECT_EQ(opened->test->size(), 2);
  EXPECT_EQ(opened->facts.input_shape, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(opened->facts.classes, 4);
  EXPECT_EQ(opened->facts.outputs, 4);
  EXPECT_EQ(opened->facts.description, "images of 1 × 2 × 3, 4 classes");
  const Batch batch = opened->train->batch(std::vector<std::int64_t>{4, 1});
  EXPECT_EQ(batch.input.sizes(), at::IntArrayRef({2, 1, 2, 3}));
  EXPECT_EQ(values<float>(batch.input)[7], static_cast<float>(11 / 255.0));
  EXPECT_EQ(values<std::int64_t>(batch.target), (std::vector<std::int64_t>{0, 1}));
  EXPECT_TRUE(is_consistent(*opened->train, 5));
}

TEST_F(OpenFiles, IdxByNameOfTheImagesWithAShareForTests) {
  DataConfig config = config_of("idx", "mnist/train-images-idx3-ubyte.gz");
  config.test_share = 0.4;
  const auto opened = open_data(fs, config, 1);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->train->size(), 3);
  EXPECT_EQ(opened->test->size(), 2);
  EXPECT_EQ(opened->test->at(1).input.view({6})[0].item<float>(), static_cast<float>(40 / 255.0));
  config.test_share = 0;
  EXPECT_EQ(open_data(fs, config, 1)->test, nullptr);
}

TEST_F(OpenFiles, NormalisedPixelsHaveMeanZeroAndDeviationOneInTraining) {
  DataConfig config = config_of("idx", "mnist");
  config.normalise = true;
  config.test_share = 0.2;
  const at::Tensor pixels = open_data(fs, config, 1)->train->batch(up_to(4)).input;
  EXPECT_NEAR(pixels.mean().item<double>(), 0, 1e-6);
  EXPECT_NEAR(pixels.std(/*unbiased=*/false).item<double>(), 1, 1e-6);
}

TEST_F(OpenFiles, IdxOfOtherNumbers) {
  put(fs, "f-images-idx2",
      bytes_from({0, 0, 13, 2, 0, 0, 0, 2, 0, 0, 0, 1, 0x40, 0x48, 0, 0, 0xC0, 0x48, 0, 0}));
  put(fs, "f-labels-idx1", bytes_from({0, 0, 12, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 1, 0}));
  const auto opened = open_data(fs, config_of("idx", "f-images-idx2"), 1);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(values<float>(opened->train->batch(up_to(2)).input), (std::vector<float>{3.125f, -3.125f}));
  EXPECT_EQ(values<std::int64_t>(opened->train->batch(up_to(2)).target), (std::vector<std::int64_t>{1, 256}));
}

TEST_F(OpenFiles, IdxMistakesNameTheFiles) {
  put(fs, "mnist/t10k-images-idx3-ubyte", images(2));
  EXPECT_EQ(text_of(open_data(fs, config_of("idx", "mnist"), 1)),
            "'mnist' has the images of 't10k' without the labels");
  put(fs, "mnist/t10k-labels-idx1-ubyte", labels({3}));
  EXPECT_EQ(text_of(open_data(fs, config_of("idx", "mnist"), 1)),
            "'mnist/t10k-images-idx3-ubyte' has 2 samples in 3 dims, 'mnist/t10k-labels-idx1-ubyte' 1 "
            "labels. Check that the two "
            "files belong together.");
  EXPECT_EQ(code_name(open_data(fs, config_of("idx", "nowhere"), 1)), "not_found");
  EXPECT_EQ(code_name(open_data(fs, config_of("idx", ""), 1)), "usage");
  ASSERT_TRUE(fs.make_directories("empty"));
  EXPECT_NE(
      text_of(open_data(fs, config_of("idx", "empty"), 1)).find("`dev/fetch-data mnist` fills such a folder"),
      std::string::npos);
  put(fs, "lonely-images-idx3-ubyte", images(2));
  EXPECT_NE(text_of(open_data(fs, config_of("idx", "lonely-images-idx3-ubyte"), 1))
                .find("lonely-labels-idx1-ubyte"),
            std::string::npos);
  put(fs, "pictures", images(2));
  EXPECT_EQ(code_name(open_data(fs, config_of("idx", "pictures"), 1)), "usage");
  put(fs, "mnist/train-labels-idx1-ubyte", bytes_from({0, 0, 9, 1, 0, 0, 0, 5, 0, 1, 255, 1, 0}));
  EXPECT_NE(text_of(open_data(fs, config_of("idx", "mnist"), 1)).find("has the label -1 for sample 2"),
            std::string::npos);
}

TEST_F(OpenFiles, CsvWithClassesGivenByText) {
  put(fs, "t.csv", "x,y,kind\n1,2,b\n3,4,a\n5,6,b\n7,8,a\n");
  DataConfig config = config_of("csv", "t.csv");
  config.test_share = 0.25;
  const auto opened = open_data(fs, config, 1);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->train->size(), 3);
  EXPECT_EQ(opened->test->size(), 1);
  EXPECT_EQ(opened->facts.classes, 2);
  EXPECT_EQ(opened->vocabulary, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(values<float>(opened->train->batch(up_to(3)).input), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values<std::int64_t>(opened->train->batch(up_to(3)).target),
            (std::vector<std::int64_t>{1, 0, 1}));
  EXPECT_TRUE(is_consistent(*opened->train, 3));
}

TEST_F(OpenFiles, CsvTargetsAreClassesWhereTheyAreWholeNumbersBelowTheNumberOfClasses) {
  put(fs, "t.csv", "x,y\n1,0\n2,9\n3,4\n");
  EXPECT_EQ(open_data(fs, config_of("csv", "t.csv"), 1)->facts.classes, 10);
  DataConfig fewer = config_of("csv", "t.csv");
  fewer.classes = 9;
  const auto numbers = open_data(fs, fewer, 1);
  EXPECT_EQ(numbers->facts.classes, 0);
  EXPECT_EQ(numbers->facts.outputs, 1);
  EXPECT_EQ(numbers->facts.description, "rows of 1 numbers, target 'y': a number");
  EXPECT_EQ(numbers->train->batch(up_to(3)).target.sizes(), at::IntArrayRef({3, 1}));
  EXPECT_EQ(values<float>(numbers->train->batch(up_to(3)).target), (std::vector<float>{0, 9, 4}));
  put(fs, "half.csv", "x,y\n1,0\n2,0.5\n");
  EXPECT_EQ(open_data(fs, config_of("csv", "half.csv"), 1)->facts.classes, 0);
}

TEST_F(OpenFiles, CsvColumnsAreNormalisedByTheRowsOfTraining) {
  put(fs, "t.csv", "x,c,y\n1,7,0.5\n3,7,0.5\n100,8,0.5\n");
  DataConfig config = config_of("csv", "t.csv");
  config.normalise = true;
  config.test_share = 0.34;
  const auto opened = open_data(fs, config, 1);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(values<float>(opened->train->batch(up_to(2)).input), (std::vector<float>{-1, 0, 1, 0}));
  EXPECT_EQ(values<float>(opened->test->batch(up_to(1)).input), (std::vector<float>{98, 1}));
}

TEST_F(OpenFiles, CsvTestFileMustFit) {
  put(fs, "a.csv", "x,y\n1,p\n2,q\n");
  put(fs, "b.csv", "x,y\n3,q\n");
  DataConfig config = config_of("csv", "a.csv");
  config.test_path = "b.csv";
  const auto opened = open_data(fs, config, 1);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->test->at(0).target.item<std::int64_t>(), 1);
  put(fs, "b.csv", "x,y\n3,r\n");
  EXPECT_EQ(text_of(open_data(fs, config, 1)), "'b.csv' has the class 'r', which is not in 'a.csv'");
  put(fs, "b.csv", "x,z\n3,q\n");
  EXPECT_NE(text_of(open_data(fs, config, 1)).find("'b.csv' has other columns than 'a.csv'"),
            std::string::npos);
  put(fs, "b.csv", "x,y\n3,4\n");
  EXPECT_NE(text_of(open_data(fs, config, 1)).find("is text in one of"), std::string::npos);
}

TEST_F(OpenFiles, TextAsWindowsOfTokens) {
  put(fs, "t.txt", "abcabcab");
  DataConfig config = config_of("text", "t.txt");
  const auto opened = open_data(fs, config, 1);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->facts.vocabulary, 3);
  EXPECT_EQ(opened->facts.context, 3);
  EXPECT_EQ(opened->facts.classes, 0);
  EXPECT_EQ(opened->facts.input_dtype, DType::kI64);
  EXPECT_EQ(opened->vocabulary, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(opened->test, nullptr);
  ASSERT_EQ(opened->train->size(), 5);
  const Sample last = opened->train->at(4);
  EXPECT_EQ(values<std::int64_t>(last.input), (std::vector<std::int64_t>{1, 2, 0}));
  EXPECT_EQ(values<std::int64_t>(last.target), (std::vector<std::int64_t>{2, 0, 1}));
  EXPECT_TRUE(is_consistent(*opened->train, 5));
}

TEST_F(OpenFiles, TextIsSplitByTokensSoThatNoWindowIsInBothParts) {
  put(fs, "t.txt.gz", gzipped("aaaaabbbbb"));
  DataConfig config = config_of("text", "t.txt.gz");
  config.test_share = 0.5;
  const auto opened = open_data(fs, config, 1);
  EXPECT_EQ(opened->train->size(), 2);
  EXPECT_EQ(opened->train->batch(up_to(2)).target.max().item<std::int64_t>(), 0);
  EXPECT_EQ(opened->test->batch(up_to(2)).input.min().item<std::int64_t>(), 1);
}

TEST_F(OpenFiles, TextWithATestFileSharesTheVocabulary) {
  put(fs, "a.txt", "abab");
  put(fs, "b.txt", "zaza");
  DataConfig config = config_of("text", "a.txt");
  config.test_path = "b.txt";
  const auto opened = open_data(fs, config, 1);
  EXPECT_EQ(opened->facts.vocabulary, 3);
  EXPECT_EQ(values<std::int64_t>(opened->test->at(0).input), (std::vector<std::int64_t>{2, 0, 2}));
  config.tokens = "byte";
  EXPECT_EQ(open_data(fs, config, 1)->facts.vocabulary, 256);
  config.tokens = "word";
  EXPECT_EQ(text_of(open_data(fs, config, 1)), "data.tokens 'word' is unknown. Take byte or char.");
}

TEST_F(OpenFiles, TooLittleTextIsRefused) {
  put(fs, "t.txt", "abc");
  EXPECT_EQ(text_of(open_data(fs, config_of("text", "t.txt"), 1)),
            "'t.txt' has 3 tokens for training, too few for a context of 3. Give more text, or a smaller "
            "data.context.");
  put(fs, "t.txt", "abcd");
  EXPECT_EQ(open_data(fs, config_of("text", "t.txt"), 1)->train->size(), 1);
}

}  // namespace
}  // namespace cohort
