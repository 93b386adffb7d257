#include "job/model_data.h"

#include "predict/small_model.h"
#include "storage/content.h"
#include "storage/memory_file_system.h"

#include <ATen/ATen.h>
#include <cohort/views.h>
#include <gtest/gtest.h>
#include <numeric>

namespace cohort::test {
namespace {

using job::fitted;

Batch all_of(const Dataset& data) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(data.size()));
  std::iota(indices.begin(), indices.end(), 0);
  return data.batch(indices);
}

class Fitted : public testing::Test {
 protected:
  OpenedData open(const std::string& kind, const std::string& content, bool normalize = false,
                  const std::string& target = "auto") {
    put(fs, "file", content);
    DataConfig config;
    config.kind = kind;
    config.path = "file";
    config.tokens = "char";
    config.target = target;
    config.split = "auto";
    config.classes = 10;
    config.context = 2;
    config.normalize = normalize;
    return value_or_throw(open_data(fs, config, 1));
  }
  std::string error_for(const OpenedData& opened, const ModelFacts& facts) {
    const auto data = fitted(opened.train, opened, facts, "file");
    return data ? "no error" : data.error().text();
  }

  MemoryFileSystem fs;
};

TEST_F(Fitted, DataOfTheTrainingIsUnchanged) {
  const OpenedData opened = open("csv", "x,y,animal\n1,2,ape\n3,5,bee\n2,2,cat\n", true);
  const ModelFacts facts = facts_of(mlp_config(), opened);
  EXPECT_EQ(value_or_throw(fitted(opened.train, opened, facts, "file")), opened.train);
}

TEST_F(Fitted, ColumnsAndClassesAreFoundByName) {
  const OpenedData opened = open("csv", "y,id,x,animal\n20,7,3,cat\n5,7,1,ape\n");
  const auto data = value_or_throw(fitted(opened.train, opened, mlp_facts(), "file"));
  const Batch batch = all_of(*data);
  EXPECT_TRUE(batch.input.equal(at::tensor({1.f, 2.f, 0.f, -1.f}).view({2, 2}))) << batch.input;
  EXPECT_TRUE(batch.target.equal(at::tensor({2, 0}, at::kLong)));
  EXPECT_TRUE(data->at(1).input.equal(at::tensor({0.f, -1.f})));
}

TEST_F(Fitted, DataWithAnotherScaleGetsThatOfTheModel) {
  const OpenedData opened = open("csv", "x,y,animal\n3,20,ape\n1,5,bee\n9,3,cat\n", true);
  const auto data = value_or_throw(fitted(opened.train, opened, mlp_facts(), "file"));
  EXPECT_TRUE(at::allclose(all_of(*data).input.slice(0, 0, 2), at::tensor({1.f, 2.f, 0.f, -1.f}).view({2, 2}),
                           1e-5, 1e-6));
}

TEST_F(Fitted, TokensAreFoundByTheirText) {
  const OpenedData opened = open("text", "cacac");
  const auto data = value_or_throw(fitted(opened.train, opened, small_gpt().facts, "file"));
  const Batch batch = all_of(*data);
  EXPECT_TRUE(batch.input[0].equal(at::tensor({2, 0}, at::kLong))) << batch.input;
  EXPECT_TRUE(batch.target[0].equal(at::tensor({0, 2}, at::kLong)));
}

TEST_F(Fitted, ErrorsNameTheDifference) {
  const OpenedData rows = open("csv", "x,z,animal\n1,2,ape\n3,5,bee\n");
  EXPECT_NE(error_for(rows, mlp_facts()).find("it has no column 'y'"), std::string::npos);
  EXPECT_NE(error_for(rows, small_gpt().facts).find("it is numbers, and the model takes text"),
            std::string::npos);
  const OpenedData classes = open("csv", "x,y,animal\n1,2,ape\n3,5,dog\n");
  EXPECT_NE(error_for(classes, mlp_facts()).find("its class 'dog' is unknown to the model"),
            std::string::npos);
  const OpenedData text = open("text", "abcdef");
  EXPECT_NE(error_for(text, small_gpt().facts).find("its token 'd' is unknown to the model"),
            std::string::npos);
  ModelFacts unnamed = mlp_facts();
  unnamed.features.clear();
  unnamed.input_shape = {3};
  unnamed.mean = unnamed.deviation = {1};
  EXPECT_NE(error_for(rows, unnamed).find("a sample has the shape [2], the model takes [3]"),
            std::string::npos);
}

TEST_F(Fitted, WholeNumbersArePredictedAsNumbersIfTheModelDoes) {
  const OpenedData opened = open("csv", "x,y\n1,2\n3,5\n", false, "number");
  const ModelFacts facts{
      .kind = "linear", .input_shape = {1}, .features = {"x"}, .outputs = 1, .loss = "squared_error"};
  const auto data = value_or_throw(fitted(opened.train, opened, facts, "file"));
  EXPECT_TRUE(all_of(*data).target.equal(at::tensor({2.f, 5.f}).view({2, 1})));
  LoadedModel model{.module = value_or_throw(make_model(facts)), .facts = facts};
  const at::NoGradGuard no_grad;
  for (at::Tensor& parameter : model.module->parameters()) parameter.fill_(1);  // predicts x + 1
  const job::DataScore score = job::evaluate_on(model, *data);
  EXPECT_EQ(score.samples, 2);
  EXPECT_EQ(score.loss, 0.5);
  EXPECT_FALSE(score.accuracy.has_value());
}

TEST_F(Fitted, AnEvaluationWeighsAsTheTrainingDoes) {
  const OpenedData opened = open("csv", "x,y\n1,2\n3,5\n0,9\n", false, "number");
  const ModelFacts facts{
      .kind = "linear", .input_shape = {1}, .features = {"x"}, .outputs = 1, .loss = "squared_error"};
  LoadedModel model{.module = value_or_throw(make_model(facts)), .facts = facts};
  const at::NoGradGuard no_grad;
  for (at::Tensor& parameter : model.module->parameters()) parameter.fill_(1);  // predicts x + 1
  const auto weighted = transform(opened.train, [](Sample sample, std::int64_t index) {
    sample.others = {{"weight", at::full({}, index == 2 ? 0.0 : static_cast<double>(index + 2))}};
    return sample;
  });
  EXPECT_DOUBLE_EQ(job::evaluate_on(model, *weighted).loss, 3.0 / 5);  // (2·0 + 3·1) / (2 + 3)
}

}  // namespace
}  // namespace cohort::test
