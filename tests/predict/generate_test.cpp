#include "small_model.h"
#include <cohort/predict.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <set>

namespace cohort::test {
namespace {

TEST(Generate, TheSameSeedGivesTheSameText) {
  const LoadedModel model = small_gpt();
  const std::string once = generate(model, "ab", {.tokens = 50});
  EXPECT_EQ(once.size(), 50u);
  EXPECT_EQ(once.find_first_not_of("abc"), std::string::npos);
  EXPECT_EQ(generate(model, "ab", {.tokens = 50}), once);
  EXPECT_NE(generate(model, "ab", {.tokens = 50, .seed = 2}), once);
  EXPECT_EQ(generate(model, "ab", {.tokens = 20}), once.substr(0, 20));
}

TEST(Generate, WithoutTemperatureTakesTheMostProbable) {
  const LoadedModel model = small_gpt();
  const std::string greedy = generate(model, "ab", {.tokens = 20, .temperature = 0});
  EXPECT_EQ(generate(model, "ab", {.tokens = 20, .temperature = 0, .seed = 9}), greedy);
  EXPECT_EQ(generate(model, "ab", {.tokens = 20, .temperature = 5, .top_k = 1}), greedy);
  const at::NoGradGuard no_grad;
  const at::Tensor logits = model.module->forward(at::tensor({0, 1}, at::kLong).unsqueeze(0));
  EXPECT_EQ(greedy.substr(0, 1),
            model.facts.vocabulary[static_cast<std::size_t>(logits[0][1].argmax().item<std::int64_t>())]);
}

TEST(Generate, TopKLeavesOutTheOthers) {
  const LoadedModel model = small_gpt();
  std::set<char> first;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    first.insert(generate(model, "a", {.tokens = 1, .temperature = 1000, .top_k = 2, .seed = seed})[0]);
  }
  EXPECT_EQ(first.size(), 2u);
}

TEST(Generate, ALongPromptIsCutToTheContext) {
  const LoadedModel model = small_gpt();
  EXPECT_EQ(generate(model, "cccccccabca", {.tokens = 9, .temperature = 0}),
            generate(model, "abca", {.tokens = 9, .temperature = 0}));
}

TEST(Generate, RefusesWhatCannotWork) {
  const LoadedModel model = small_gpt();
  EXPECT_THROW(generate(model, ""), UsageError);
  EXPECT_THROW(generate(model, "ad"), UsageError);
  EXPECT_THROW(generate(model, "a", {.tokens = -1}), UsageError);
  EXPECT_THROW(generate(model, "a", {.temperature = -1}), UsageError);
  EXPECT_THROW(generate(model, "a", {.top_k = 0}), UsageError);
  EXPECT_THROW(generate({.module = nullptr, .facts = mlp_facts()}, "a"), UsageError);
}

}  // namespace
}  // namespace cohort::test
