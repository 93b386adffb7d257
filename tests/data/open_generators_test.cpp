#include "data/open.h"
#include "storage/memory_file_system.h"
#include "tensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

using test::up_to;

DataConfig config_of(std::string kind) {
  DataConfig config;
  config.kind = std::move(kind);
  config.samples = 300;
  config.test_samples = 40;
  config.classes = 4;
  config.features = 5;
  config.image_size = 12;
  config.context = 7;
  config.noise = 0.1;
  return config;
}

Result<OpenedData> open(const DataConfig& config) {
  MemoryFileSystem fs;
  return open_data(fs, config, 11);
}

std::string error_of(const DataConfig& config) {
  const auto opened = open(config);
  return opened ? "" : opened.error().text();
}

TEST(OpenGenerators, GiveWhatTheFactsSay) {
  for (const char* kind : {"digits", "spirals", "regression", "markov"}) {
    const auto opened = open(config_of(kind));
    ASSERT_TRUE(opened) << opened.error().text();
    EXPECT_EQ(opened->train->size(), 300);
    EXPECT_EQ(opened->test->size(), 40);
    const Batch batch = opened->train->batch(up_to(300));
    EXPECT_EQ(batch.input[0].sizes().vec(), opened->facts.input_shape) << kind;
    const bool tokens = opened->facts.vocabulary > 0;
    EXPECT_EQ(batch.input.scalar_type(), tokens ? at::kLong : at::kFloat);
    EXPECT_EQ(opened->facts.input_dtype, tokens ? DType::kI64 : DType::kF32);
    const std::int64_t most = std::max(opened->facts.classes, opened->facts.vocabulary);
    if (most > 0) EXPECT_EQ(batch.target.max().item<std::int64_t>(), most - 1) << kind;
    EXPECT_GT(opened->facts.outputs, 0);
    EXPECT_EQ(static_cast<std::int64_t>(opened->vocabulary.size()), opened->facts.vocabulary);
    EXPECT_FALSE(opened->facts.description.empty());
  }
}

TEST(OpenGenerators, TestsAreOtherSamplesAndDoNotMoveWithTheNumberOfThoseTrainedOn) {
  DataConfig config = config_of("spirals");
  const auto opened = open(config);
  EXPECT_FALSE(at::equal(opened->train->batch(up_to(40)).input, opened->test->batch(up_to(40)).input));
  config.samples = 7;
  EXPECT_TRUE(at::equal(open(config)->test->batch(up_to(40)).input, opened->test->batch(up_to(40)).input));
  config.test_samples = 0;
  EXPECT_EQ(open(config)->test, nullptr);
}

TEST(OpenGenerators, DigitsCanBeNormalised) {
  DataConfig config = config_of("digits");
  config.normalize = true;
  const at::Tensor pixels = open(config)->train->batch(up_to(256)).input;
  EXPECT_NEAR(pixels.mean().item<double>(), 0, 1e-5);
  EXPECT_NEAR(pixels.std(/*unbiased=*/false).item<double>(), 1, 1e-5);
}

TEST(OpenGenerators, SettingsThatCannotBeAreNamed) {
  EXPECT_EQ(
      error_of(config_of("cats")),
      "data.kind 'cats' is unknown. Take one of cifar, csv, digits, idx, markov, regression, spirals, text.");
  DataConfig config = config_of("digits");
  config.classes = 11;
  EXPECT_EQ(error_of(config), "data.classes is 11. Give 2 to 10.");
  config = config_of("regression");
  config.normalize = true;
  EXPECT_NE(error_of(config).find("data.normalize is set, but"), std::string::npos);
  config = config_of("markov");
  config.samples = 0;
  EXPECT_NE(error_of(config).find("data.samples is 0"), std::string::npos);
  config = config_of("spirals");
  config.noise = -1;
  EXPECT_EQ(error_of(config), "data.noise is -1. Give 0 or more.");
}

}  // namespace
}  // namespace cohort
