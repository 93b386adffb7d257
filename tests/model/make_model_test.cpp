#include "model/cases.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

std::int64_t num_parameters(const Model& model) {
  std::int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

std::shared_ptr<Model> made(const ModelConfig& config, const DataFacts& facts, std::uint64_t seed = 1) {
  return value_or_throw(make_model(config, facts, seed));
}

std::string refused(const ModelConfig& config, const DataFacts& facts) {
  const auto result = make_model(config, facts, 1);
  if (result) return "accepted";
  EXPECT_EQ(result.error().code(), ErrorCode::kUsage);
  EXPECT_NE(result.error().remedy(), "");
  return result.error().message();
}

std::vector<std::int64_t> output_shape(const ModelCase& each, std::int64_t samples) {
  if (each.facts.vocabulary > 0) return {samples, each.facts.input_shape[0], each.facts.vocabulary};
  if (each.config.kind == "logistic") return {samples, 1};
  return {samples, each.facts.classes > 0 ? each.facts.classes : each.facts.outputs};
}

TEST(MakeModel, GivesOutputsOfTheRightShape) {
  for (const ModelCase& each : model_cases()) {
    SCOPED_TRACE(each.name);
    const auto model = made(each.config, each.facts);
    for (const std::int64_t samples : {2, 3, 7}) {
      EXPECT_EQ(model->forward(batch_for(each.facts, samples).input).sizes().vec(),
                output_shape(each, samples));
    }
  }
}

TEST(MakeModel, CountsParametersAsTheFormulasDo) {
  ModelConfig mlp = model_config("mlp");
  mlp.hidden = {3200, 3200, 3200};
  const DataFacts digits{.input_shape = {28, 28}, .classes = 10};
  EXPECT_EQ(num_parameters(*made(mlp, digits)), 785 * 3200 + 2 * 3201 * 3200 + 3201 * 10);

  EXPECT_EQ(num_parameters(*made(model_config("softmax"), digits)), 785 * 10);
  EXPECT_EQ(num_parameters(*made(model_config("lenet"), digits)),
            16 * 26 + 32 * (16 * 25 + 1) + 128 * (32 * 7 * 7 + 1) + 10 * 129);

  const auto block = [](std::int64_t from, std::int64_t to) {
    return 9 * from * to + 9 * to * to + 4 * to + (from == to ? 0 : from * to + 2 * to);
  };
  std::int64_t resnet = 27 * 64 + 2 * 64 + 10 * 513, from = 64;
  for (const std::int64_t to : {64, 128, 256, 512}) {
    resnet += block(from, to) + block(to, to);
    from = to;
  }
  EXPECT_EQ(num_parameters(*made(model_config("resnet18"), {.input_shape = {3, 32, 32}, .classes = 10})),
            resnet);

  ModelConfig gpt = model_config("gpt");
  gpt.layers = 6;
  gpt.width = 384;
  gpt.heads = 6;
  EXPECT_EQ(num_parameters(*made(gpt, {.input_shape = {256}, .vocabulary = 65, .context = 256})),
            (65 + 256) * 384 + 6 * (12 * 384 * 384 + 2 * 384) + 384);
}

TEST(MakeModel, NamesParametersReadably) {
  const ModelCase gpt = gpt_case();
  const auto parameters = made(gpt.config, gpt.facts)->named_parameters();
  for (const char* name : {"tokens.weight", "positions.weight", "blocks.1.attention_norm.weight",
                           "blocks.1.attention.qkv.weight", "blocks.0.attention.output.weight",
                           "blocks.0.mlp.expand.weight", "blocks.0.mlp.contract.weight", "norm.weight"}) {
    EXPECT_TRUE(parameters.contains(name)) << name;
  }
  const auto resnet =
      made(model_config("resnet18"), {.input_shape = {3, 8, 8}, .classes = 2})->named_parameters();
  for (const char* name : {"stem.weight", "stages.0.0.conv1.weight", "stages.3.0.shortcut.weight",
                           "stages.3.1.norm2.bias", "head.bias"}) {
    EXPECT_TRUE(resnet.contains(name)) << name;
  }
}

TEST(MakeModel, GivesTheSameBitsForTheSameSeed) {
  for (const ModelCase& each : model_cases()) {
    SCOPED_TRACE(each.name);
    const auto one = made(each.config, each.facts, 3)->parameters();
    const auto same = made(each.config, each.facts, 3)->parameters();
    const auto other = made(each.config, each.facts, 4)->parameters();
    ASSERT_EQ(one.size(), same.size());
    bool differs = false;
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_TRUE(at::equal(one[i], same[i])) << i;
      differs = differs || !at::equal(one[i], other[i]);
    }
    EXPECT_TRUE(differs);
  }
}

TEST(MakeModel, LeavesTheGeneratorOfTorchAlone) {
  const at::Tensor before = at::detail::getDefaultCPUGenerator().get_state();
  for (const ModelCase& each : model_cases()) made(each.config, each.facts);
  EXPECT_TRUE(at::equal(before, at::detail::getDefaultCPUGenerator().get_state()));
}

TEST(MakeModel, SpreadsWeightsAsTheirFormulaSays) {
  ModelConfig config = model_config("mlp");
  config.hidden = {300};
  const auto parameters = made(config, {.input_shape = {400}, .classes = 2})->named_parameters();
  const at::Tensor weight = parameters["layers.0.weight"];
  EXPECT_LE(weight.abs().max().item<double>(), 0.05);
  EXPECT_GT(weight.abs().max().item<double>(), 0.0499);
  // The deviation of 120000 uniform numbers is within 1 % of bound / √3: eight deviations of its own.
  EXPECT_NEAR(weight.std().item<double>(), 0.05 / std::sqrt(3.0), 0.0003);

  ModelConfig gpt = model_config("gpt");
  gpt.layers = 2;
  gpt.width = 192;
  gpt.heads = 3;
  const auto blocks = made(gpt, {.input_shape = {8}, .vocabulary = 50, .context = 8})->named_parameters();
  EXPECT_NEAR(blocks["blocks.0.attention.qkv.weight"].std().item<double>(), 0.02, 0.0004);
  EXPECT_NEAR(blocks["blocks.1.mlp.contract.weight"].std().item<double>(), 0.01, 0.0002);
}

TEST(MakeModel, PutsImagesAndKernelsChannelsLastWhenAsked) {
  for (const char* kind : {"lenet", "resnet18"}) {
    SCOPED_TRACE(kind);
    ModelConfig config = model_config(kind);
    const DataFacts facts{.input_shape = {3, 16, 16}, .classes = 3};
    const auto plain = made(config, facts);
    config.channels_last = true;
    const auto last = made(config, facts);
    const auto parameters = last->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_TRUE(at::equal(parameters[i], plain->parameters()[i]));
      if (parameters[i].dim() == 4) {
        EXPECT_TRUE(parameters[i].is_contiguous(at::MemoryFormat::ChannelsLast)) << i;
      }
    }
    const Batch batch = batch_for(facts, 3);
    EXPECT_TRUE(at::allclose(plain->forward(batch.input), last->forward(batch.input), 1e-3, 1e-4));
  }
}

TEST(MakeModel, TakesWholeNumbersForImages) {
  const DataFacts facts{.input_shape = {8, 8}, .input_dtype = DType::kU8, .classes = 3};
  for (const char* kind : {"softmax", "lenet", "resnet18"}) {
    const auto model = made(model_config(kind), facts);
    model->eval();
    const at::Tensor bytes = whole_numbers({2, 8, 8}, 256, 3).to(at::kByte);
    EXPECT_TRUE(at::equal(model->forward(bytes), model->forward(bytes.to(at::kFloat)))) << kind;
  }
}

TEST(MakeModel, RefusesDataThatDoesNotFit) {
  const DataFacts numbers{.input_shape = {5}, .outputs = 1};
  const DataFacts classes{.input_shape = {5}, .classes = 3};
  const DataFacts text{.input_shape = {8}, .vocabulary = 9, .context = 8};
  const DataFacts tiny{.input_shape = {1, 3, 9}, .classes = 3};
  EXPECT_EQ(refused(model_config("transformer"), numbers), "model.kind 'transformer' is unknown");
  EXPECT_EQ(refused(model_config("linear"), classes),
            "model.kind 'linear' predicts numbers, but the data has 3 classes");
  EXPECT_EQ(refused(model_config("logistic"), classes),
            "model.kind 'logistic' tells two classes apart, but the data has 3");
  EXPECT_EQ(refused(model_config("softmax"), numbers),
            "model.kind 'softmax' tells classes apart, but the data has none");
  EXPECT_EQ(refused(model_config("mlp"), text), "model.kind 'mlp' takes numbers, but the data is text");
  EXPECT_EQ(refused(model_config("lenet"), classes),
            "model.kind 'lenet' takes images, but a sample has the shape 5");
  EXPECT_EQ(refused(model_config("lenet"), tiny),
            "model.kind 'lenet' needs images of at least 4 × 4, but they are 3 × 9");
  EXPECT_EQ(refused(model_config("gpt"), numbers), "model.kind 'gpt' takes text, but the data is numbers");
}

TEST(MakeModel, RefusesSettingsThatDoNotFit) {
  const DataFacts classes{.input_shape = {5}, .classes = 3};
  ModelConfig gpt = gpt_case().config;
  gpt.heads = 5;
  EXPECT_EQ(refused(gpt, gpt_case().facts), "model.kind 'gpt' cannot have 2 layers of width 12 with 5 heads");
  ModelConfig mlp = model_config("mlp");
  mlp.hidden = {3, 0};
  EXPECT_EQ(refused(mlp, classes), "model.kind 'mlp' cannot have a hidden layer of 0");
  mlp.hidden = {3};
  mlp.activation = "sigmoid";
  EXPECT_EQ(refused(mlp, classes), "there is no model.activation 'sigmoid'");
  for (const double rate : {-0.1, 1.0, std::nan("")}) {
    ModelConfig config = model_config("softmax");
    config.dropout = rate;
    EXPECT_EQ(refused(config, classes), fmt::format("model.dropout is {}", rate));
  }
}

TEST(MakeModel, RefusesMoreTokensThanPositions) {
  const ModelCase gpt = gpt_case();
  const auto model = made(gpt.config, gpt.facts);
  try {
    model->forward(whole_numbers({2, 10}, 11, 3));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.message(), "10 tokens are more than the model's 9 positions");
  }
}

TEST(Gpt, SeesNoLaterToken) {
  const ModelCase gpt = gpt_case();
  const auto model = made(gpt.config, gpt.facts);
  const at::Tensor tokens = batch_for(gpt.facts, 3).input;
  at::Tensor changed = tokens.clone();
  changed.select(1, 4).add_(1).remainder_(11);
  const at::Tensor a = model->forward(tokens), b = model->forward(changed);
  EXPECT_TRUE(at::allclose(a.narrow(1, 0, 4), b.narrow(1, 0, 4), 1e-6, 1e-7));
  EXPECT_FALSE(at::allclose(a.narrow(1, 4, 1), b.narrow(1, 4, 1), 1e-3, 1e-4));
}

}  // namespace
}  // namespace cohort
