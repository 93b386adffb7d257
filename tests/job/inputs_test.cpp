#include "job/model_data.h"

#include "predict/small_model.h"
#include "storage/content.h"
#include "storage/memory_file_system.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using job::Inputs;
using job::read_inputs;

const ModelFacts kImages{.kind = "lenet", .input_shape = {1, 1, 2}, .white = 255};

TEST(PredictInputs, RowsByColumnNames) {
  MemoryFileSystem fs;
  put(fs, "rows.csv", "y,x\n1,2\n3,4\n");
  const Inputs inputs = value_or_throw(read_inputs(fs, "rows.csv", mlp_facts()));
  EXPECT_TRUE(inputs.raw.equal(at::tensor({2.f, 1.f, 4.f, 3.f}).view({2, 2})));
  EXPECT_EQ(inputs.header, (std::vector<std::string>{"y", "x"}));
  EXPECT_EQ(inputs.cells[1], (std::vector<std::string>{"3", "4"}));
}

TEST(PredictInputs, AnImageHasTheBrightnessOfTheTrainingData) {
  MemoryFileSystem fs;
  put(fs, "a.pgm", "P2 2 1 5 1 5");
  EXPECT_TRUE(value_or_throw(read_inputs(fs, "a.pgm", kImages))
                  .raw.to(at::kFloat)
                  .flatten()
                  .equal(at::tensor({51.f, 255.f})));
  ModelFacts unknown = kImages;
  unknown.white.reset();
  EXPECT_EQ(code_name(read_inputs(fs, "a.pgm", unknown)), "usage");
}

TEST(PredictInputs, RecordsOfAnIdxFile) {
  MemoryFileSystem fs;
  put(fs, "a", std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x01\x02\x03\xff", 20));
  const Inputs inputs = value_or_throw(read_inputs(fs, "a", kImages));
  EXPECT_TRUE(inputs.raw.flatten().equal(at::tensor({1., 2., 3., 255.}, at::kDouble)));
  ModelFacts drawn = kImages;
  drawn.white = 1;
  EXPECT_EQ(value_or_throw(read_inputs(fs, "a", drawn)).raw.max().item<double>(), 1);
}

TEST(PredictInputs, OfAnotherShapeAreNamed) {
  MemoryFileSystem fs;
  put(fs, "a.pgm", "P2 1 1 5 1");
  const auto image = read_inputs(fs, "a.pgm", kImages);
  ASSERT_EQ(code_name(image), "usage");
  EXPECT_EQ(image.error().message(),
            "a sample of 'a.pgm' has the shape [1, 1, 1], the model takes [1, 1, 2]");
  put(fs, "a.png", "\x89PNG");
  const auto other = read_inputs(fs, "a.png", kImages);
  ASSERT_EQ(code_name(other), "usage");
  EXPECT_NE(other.error().text().find("PGM, PPM or IDX"), std::string::npos);
  EXPECT_EQ(code_name(read_inputs(fs, "none", kImages)), "not_found");
}

}  // namespace
}  // namespace cohort::test
