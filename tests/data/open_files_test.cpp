#include "data/open.h"
#include "records/record_bytes.h"
#include "storage/memory_file_system.h"
#include "tensors.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

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
  config.target = "auto";
  config.split = "auto";
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
  config.split = "end";
  const auto opened = open_data(fs, config, 1);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->train->size(), 3);
  EXPECT_EQ(opened->test->size(), 2);
  EXPECT_EQ(opened->test->at(1).input.view({6})[0].item<float>(), static_cast<float>(40 / 255.0));
  config.test_share = 0;
  EXPECT_EQ(open_data(fs, config, 1)->test, nullptr);
}

// The first pixels of the images, as bytes.
std::vector<int> first_pixels(const Dataset& data) {
  std::vector<int> pixels;
  for (std::int64_t i = 0; i < data.size(); ++i) {
    pixels.push_back(static_cast<int>(std::lround(data.at(i).input.view({6})[0].item<float>() * 255)));
  }
  return pixels;
}

TEST_F(OpenFiles, IdxIsSplitAtRandomByTheSeed) {
  put(fs, "mnist/train-images-idx3-ubyte.gz", gzipped(images(20)));
  put(fs, "mnist/train-labels-idx1-ubyte",
      labels({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}));
  DataConfig config = config_of("idx", "mnist");
  config.test_share = 0.25;
  std::set<std::vector<int>> tested;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const auto opened = open_data(fs, config, seed);
    ASSERT_TRUE(opened) << opened.error().text();
    std::vector<int> all = first_pixels(*opened->train);
    const std::vector<int> test = first_pixels(*opened->test);
    EXPECT_EQ(test.size(), 5u);
    EXPECT_EQ(test, first_pixels(*open_data(fs, config, seed)->test)) << "the same seed, the same split";
    tested.insert(test);
    for (std::int64_t i = 0; i < 5; ++i) {
      const bool is_one = test[static_cast<std::size_t>(i)] >= 160;
      EXPECT_EQ(opened->test->at(i).target.item<std::int64_t>(), is_one ? 1 : 0) << "labels move along";
    }
    all.insert(all.end(), test.begin(), test.end());
    std::sort(all.begin(), all.end());
    for (int i = 0; i < 20; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], 10 * i);
  }
  EXPECT_GT(tested.size(), 1u);
  config.split = "stratified";
  const auto opened = open_data(fs, config, 1);
  EXPECT_EQ(opened->test->batch(up_to(5)).target.sum().item<std::int64_t>(), 1) << "a quarter of four ones";
}

TEST_F(OpenFiles, ASplitThatIsAskedForLeavesTheTestFilesOfAFolderAside) {
  put(fs, "mnist/t10k-images-idx3-ubyte", images(2, 100));
  put(fs, "mnist/t10k-labels-idx1-ubyte", labels({3, 0}));
  DataConfig config = config_of("idx", "mnist");
  config.test_share = 0.2;
  EXPECT_EQ(open_data(fs, config, 1)->test->size(), 1);
  EXPECT_EQ(open_data(fs, config, 1)->train->size(), 4);
  config = config_of("idx", "mnist");
  config.split = "end";
  EXPECT_EQ(open_data(fs, config, 1)->test, nullptr) << "a tenth of five images is no image";
  config.split = "middle";
  EXPECT_EQ(text_of(open_data(fs, config, 1)),
            "data.split 'middle' is unknown. Take auto, random, stratified or end.");
}

TEST_F(OpenFiles, NormalisedPixelsHaveMeanZeroAndDeviationOneInTraining) {
  DataConfig config = config_of("idx", "mnist");
  config.normalize = true;
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
  EXPECT_EQ(
      text_of(open_data(fs, config_of("idx", "mnist"), 1)),
      "'mnist/t10k-images-idx3-ubyte' has 2 samples in 3 dims, expected 1 samples, one for each label of "
      "'mnist/t10k-labels-idx1-ubyte', in 2 or more dims. Check that the two files belong together.");
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

TEST_F(OpenFiles, CifarHasClassesThatDoNotOccur) {
  std::string content;
  for (const int c : {3, 1}) {
    content += std::string(1, static_cast<char>(c)) + std::string(3072, static_cast<char>(51 * c));
  }
  put(fs, "some.bin", content);
  put(fs, "more.bin", content);
  DataConfig config = config_of("cifar", "some.bin");
  config.test_path = "more.bin";
  const auto opened = open_data(fs, config, 1);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->facts.description, "images of 3 × 32 × 32, 10 classes");
  EXPECT_EQ(opened->train->at(1).input.max().item<float>(), static_cast<float>(51 / 255.0));
  EXPECT_EQ(opened->test->at(0).target.item<std::int64_t>(), 3);
  EXPECT_TRUE(is_consistent(*opened->train, 2));
}

TEST_F(OpenFiles, CsvWithClassesGivenByText) {
  put(fs, "t.csv", "x,y,kind\n1,2,b\n3,4,a\n5,6,b\n7,8,a\n");
  DataConfig config = config_of("csv", "t.csv");
  config.test_share = 0.25;
  config.split = "end";
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

TEST_F(OpenFiles, CsvTargetsAreWhatTheSettingSays) {
  put(fs, "t.csv", "x,y\n1,0\n2,9\n3,4\n");
  DataConfig config = config_of("csv", "t.csv");
  EXPECT_NE(text_of(open_data(fs, config, 1)).find("Set data.target = \"class\""), std::string::npos);
  config.target = "class";
  const auto classes = open_data(fs, config, 1);
  ASSERT_TRUE(classes) << classes.error().text();
  EXPECT_EQ(classes->facts.classes, 3);
  EXPECT_EQ(classes->vocabulary, (std::vector<std::string>{"0", "4", "9"}));
  EXPECT_EQ(values<std::int64_t>(classes->train->batch(up_to(3)).target),
            (std::vector<std::int64_t>{0, 2, 1}));
  config.target = "number";
  const auto numbers = open_data(fs, config, 1);
  EXPECT_EQ(numbers->facts.classes, 0);
  EXPECT_EQ(numbers->facts.outputs, 1);
  EXPECT_EQ(numbers->facts.description, "rows of 1 numbers, target 'y': a number");
  EXPECT_EQ(numbers->train->batch(up_to(3)).target.sizes(), at::IntArrayRef({3, 1}));
  EXPECT_EQ(values<float>(numbers->train->batch(up_to(3)).target), (std::vector<float>{0, 9, 4}));
  config.target = "letter";
  EXPECT_EQ(text_of(open_data(fs, config, 1)),
            "data.target 'letter' is unknown. Take auto, class or number.");
}

TEST_F(OpenFiles, CsvIsSplitAtRandomOrByClass) {
  std::string text = "x,kind\n";
  for (int i = 0; i < 40; ++i) text += std::to_string(i) + (i < 32 ? ",common\n" : ",rare\n");
  put(fs, "t.csv", text);
  DataConfig config = config_of("csv", "t.csv");
  config.test_share = 0.25;
  const auto numbers_of = [](const Dataset& data) {
    return values<float>(data.batch(up_to(data.size())).input);
  };
  const auto opened = open_data(fs, config, 1);
  ASSERT_TRUE(opened) << opened.error().text();
  const std::vector<float> tested = numbers_of(*opened->test);
  EXPECT_EQ(tested.size(), 10u);
  EXPECT_LT(tested.front(), 30) << "not the end of the file";
  EXPECT_TRUE(std::is_sorted(tested.begin(), tested.end())) << "in the order of the file";
  EXPECT_EQ(tested, numbers_of(*open_data(fs, config, 1)->test));
  EXPECT_NE(tested, numbers_of(*open_data(fs, config, 2)->test));
  config.split = "stratified";
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto by_class = open_data(fs, config, seed);
    EXPECT_EQ(by_class->test->batch(up_to(10)).target.sum().item<std::int64_t>(), 2) << "a quarter of eight";
  }
  put(fs, "t.csv", "x,y\n1,0.5\n2,1.5\n");
  EXPECT_EQ(text_of(open_data(fs, config, 1)),
            "data.split = \"stratified\" requires classes, and the target 'y' is a number. Set data.split = "
            "\"random\", or data.target = \"class\" if the numbers are classes.");
}

TEST_F(OpenFiles, CsvColumnsAreNormalisedByTheRowsOfTraining) {
  put(fs, "t.csv", "x,c,y\n1,7,0.5\n3,7,0.5\n100,8,0.5\n");
  DataConfig config = config_of("csv", "t.csv");
  config.normalize = true;
  config.test_share = 0.34;
  config.split = "end";
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
  put(fs, "b.csv", "x,y\n3,4.5\n");
  EXPECT_NE(text_of(open_data(fs, config, 1)).find("data.target = \"class\", but column 'y' of 'b.csv'"),
            std::string::npos);
  put(fs, "a.csv", "x,y\n3,4.5\n");
  put(fs, "b.csv", "x,y\n3,4\n");
  EXPECT_EQ(open_data(fs, config, 1)->facts.classes, 0) << "the kind of target is that of the first file";
  put(fs, "b.csv", "x,y\n3,q\n");
  EXPECT_NE(text_of(open_data(fs, config, 1)).find("data.target = \"number\", but column 'y' of 'b.csv'"),
            std::string::npos);
}

TEST_F(OpenFiles, TextAsWindowsOfTokens) {
  put(fs, "t.txt", "abcabcab");
  DataConfig config = config_of("text", "t.txt");
  config.stride = 1;
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

// The inputs of all samples, as letters.
std::vector<std::string> inputs_of(const Dataset& data) {
  std::vector<std::string> inputs;
  for (std::int64_t i = 0; i < data.size(); ++i) {
    std::string& letters = inputs.emplace_back();
    for (const std::int64_t token : values<std::int64_t>(data.at(i).input)) {
      letters += static_cast<char>('a' + token);
    }
  }
  return inputs;
}

TEST_F(OpenFiles, WindowsOfTextDoNotOverlapUnlessTheStrideSaysSo) {
  DataConfig config = config_of("text", "t.txt");
  config.test_share = 0;
  const auto inputs = [&](const std::string& text) {
    put(fs, "t.txt", text);
    const auto opened = open_data(fs, config, 1);
    EXPECT_TRUE(opened) << opened.error().text();
    return inputs_of(*opened->train);
  };
  using Inputs = std::vector<std::string>;
  EXPECT_EQ(inputs("abcdefg"), (Inputs{"abc", "def"})) << "g is the last target";
  EXPECT_EQ(inputs("abcdef"), Inputs{"abc"}) << "def would have no target for f";
  EXPECT_EQ(inputs("abcd"), Inputs{"abc"});
  config.stride = 2;
  EXPECT_EQ(inputs("abcdefg"), (Inputs{"abc", "cde"}));
  EXPECT_EQ(inputs("abcdefgh"), (Inputs{"abc", "cde", "efg"}));
  config.stride = 5;
  EXPECT_EQ(inputs("abcdefghi"), (Inputs{"abc", "fgh"}));
  config.stride = 100;
  EXPECT_EQ(inputs("abcdefghi"), Inputs{"abc"});
  config.stride = 0;
  EXPECT_EQ(text_of(open_data(fs, config, 1)), "data.stride is 0. Give at least 1.");
}

TEST_F(OpenFiles, TextIsSplitByTokensSoThatNoWindowIsInBothParts) {
  put(fs, "t.txt.gz", gzipped("aaaaabbbbb"));
  DataConfig config = config_of("text", "t.txt.gz");
  config.test_share = 0.5;
  config.stride = 1;
  const auto opened = open_data(fs, config, 1);
  EXPECT_EQ(opened->train->size(), 2);
  EXPECT_EQ(opened->train->batch(up_to(2)).target.max().item<std::int64_t>(), 0);
  EXPECT_EQ(opened->test->batch(up_to(2)).input.min().item<std::int64_t>(), 1);
  config.split = "end";
  EXPECT_EQ(open_data(fs, config, 1)->train->size(), 2);
  config.split = "random";
  EXPECT_EQ(
      text_of(open_data(fs, config, 1)),
      "data.split = \"random\" is not for text, whose samples may overlap. Leave it out: the end of the "
      "text is the test data.");
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
