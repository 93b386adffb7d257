#include <cohort/dropout.h>

#include "model/cases.h"
#include "model/dropout_mask.h"

#include <cmath>
#include <gtest/gtest.h>

namespace cohort {
namespace {

using Numbers64 = std::vector<std::int64_t>;

std::shared_ptr<const Numbers64> shared(Numbers64 samples) {
  return std::make_shared<const Numbers64>(std::move(samples));
}

at::Tensor dropped(const at::Tensor& input, double rate, Numbers64 samples, std::uint64_t key = 99) {
  return model::masked(input, {.key = key, .rate = rate, .samples = shared(std::move(samples))});
}

Numbers64 counted(std::int64_t count) {
  Numbers64 samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), std::int64_t{0});
  return samples;
}

/// Element i of a sample by the definition, without the loops that make it fast.
bool is_kept(std::uint64_t key, std::int64_t sample, std::uint64_t element, double rate) {
  const auto block = RandomStream(key, static_cast<std::uint64_t>(sample)).block(element / 4);
  return block[element % 4] >= static_cast<std::uint32_t>(std::llround(rate * 0x1p32));
}

TEST(Dropout, KeepsWhatTheRandomStreamSays) {
  for (const std::int64_t width : {1, 31, 32, 33, 255, 256, 257, 700}) {
    const Numbers64 samples{7, 0, (std::int64_t{1} << 40) + 3};
    const at::Tensor got = dropped(at::ones({3, width}), 0.25, samples);
    for (std::int64_t r = 0; r < 3; ++r) {
      for (std::int64_t i = 0; i < width; ++i) {
        const bool kept =
            is_kept(99, samples[static_cast<std::size_t>(r)], static_cast<std::uint64_t>(i), 0.25);
        ASSERT_EQ(got[r][i].item<float>(), kept ? static_cast<float>(1 / 0.75) : 0.0f) << width << " " << i;
      }
    }
  }
}

TEST(Dropout, DropsTheSameOfASampleInAnyCompany) {
  const at::Tensor input = numbers_of({8, 5, 37}, 3);
  const at::Tensor all = dropped(input, 0.5, {10, 11, 12, 13, 14, 7, 16, 17});
  EXPECT_TRUE(at::equal(dropped(input.narrow(0, 5, 1), 0.5, {7})[0], all[5]));
  EXPECT_TRUE(at::equal(dropped(input.flip(0), 0.5, {17, 16, 7, 14, 13, 12, 11, 10}).flip(0), all));
  EXPECT_FALSE(at::equal(dropped(input.narrow(0, 5, 1), 0.5, {8})[0], all[5]));
}

TEST(Dropout, DropsAtTheRateAndKeepsTheMean) {
  for (const double rate : {0.1, 0.5, 0.9}) {
    const at::Tensor got = dropped(at::ones({100, 1000}), rate, counted(100));
    // Six deviations of a share among 100000.
    const double limit = 6 * std::sqrt(rate * (1 - rate) / 100000);
    EXPECT_NEAR(got.eq(0).to(at::kDouble).mean().item<double>(), rate, limit);
    EXPECT_NEAR(got.mean().item<double>(), 1, limit / (1 - rate));
  }
}

TEST(Dropout, PassesTheGradientThroughTheSameMask) {
  const at::Tensor input = numbers_of({3, 70}, 4).to(at::kDouble).requires_grad_();
  const at::Tensor weight = numbers_of({3, 70}, 5).to(at::kDouble);
  (dropped(input, 0.4, {1, 2, 3}) * weight).sum().backward();
  EXPECT_TRUE(at::equal(input.grad(), dropped(weight, 0.4, {1, 2, 3})));
}

TEST(Dropout, DropsWhatIsNotANumber) {
  const at::Tensor got = dropped(at::full({1, 100}, std::nan("")), 0.5, {3});
  EXPECT_GT(got.eq(0).sum().item<std::int64_t>(), 0);
  EXPECT_GT(got.isnan().sum().item<std::int64_t>(), 0);
}

TEST(Dropout, TakesEveryKindOfFloatAndAnyLayout) {
  const at::Tensor input = at::ones({4, 3, 6, 6});
  const at::Tensor plain = dropped(input, 0.5, counted(4));
  EXPECT_TRUE(at::equal(dropped(input.contiguous(at::MemoryFormat::ChannelsLast), 0.5, counted(4)), plain));
  for (const at::ScalarType type : {at::kDouble, at::kBFloat16, at::kHalf}) {
    const at::Tensor got = dropped(input.to(type), 0.5, counted(4));
    EXPECT_EQ(got.scalar_type(), type);
    EXPECT_TRUE(at::equal(got.to(at::kFloat), plain));
  }
  EXPECT_EQ(dropped(at::ones({4, 0}), 0.5, counted(4)).numel(), 0);
}

struct TwoDropouts : torch::nn::Module {
  TwoDropouts() {
    first = register_module("first", Dropout(0.5));
    second = register_module("second", Dropout(0.5));
  }
  Dropout first{nullptr}, second{nullptr};
};

TEST(Dropout, DependsOnSeedStepAndLayer) {
  TwoDropouts module;
  const at::Tensor input = at::ones({2, 100});
  const Numbers64 samples{4, 5};
  const auto masks = [&](std::uint64_t seed, std::uint64_t step) {
    set_step(module, {.seed = seed, .step = step, .samples = samples});
    return std::vector<at::Tensor>{module.first->forward(input), module.second->forward(input)};
  };
  const auto one = masks(1, 1);
  EXPECT_TRUE(at::equal(one[0], masks(1, 1)[0]));
  EXPECT_FALSE(at::equal(one[0], one[1]));
  EXPECT_FALSE(at::equal(one[0], masks(2, 1)[0]));
  EXPECT_FALSE(at::equal(one[0], masks(1, 2)[0]));
  EXPECT_FALSE(at::equal(one[0][0], one[0][1]));
}

TEST(Dropout, GivesBackItsInputWhenThereIsNothingToDo) {
  const at::Tensor input = at::ones({2, 3});
  Dropout off(0);
  EXPECT_TRUE(off->forward(input).is_same(input));
  Dropout on(0.5);
  on->eval();
  EXPECT_TRUE(on->forward(input).is_same(input));
}

TEST(Dropout, RefusesToGuessTheSamples) {
  Dropout dropout(0.5);
  EXPECT_THROW(dropout->forward(at::ones({2, 3})), UsageError);
  const Numbers64 samples{1, 2, 3};
  set_step(*dropout, {.samples = samples});
  EXPECT_EQ(dropout->forward(at::ones({3, 3})).size(0), 3);
  try {
    dropout->forward(at::ones({2, 3}));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.message(), "a Dropout was given an input of 2 rows but the numbers of 3 samples");
    EXPECT_NE(error.remedy(), "");
  }
  EXPECT_THROW(dropout->forward(at::ones({})), UsageError);
}

TEST(Dropout, RefusesImpossibleRates) {
  for (const double rate : {-0.1, 1.0, std::nan("")}) EXPECT_THROW(Dropout{rate}, UsageError);
}

TEST(Dropout, CanBeCloned) {
  Dropout dropout(0.25);
  EXPECT_EQ(dynamic_cast<DropoutImpl&>(*dropout->clone()).rate(), 0.25);
}

TEST(Dropout, MakesAModelIndependentOfTheCompanyOfASample) {
  for (ModelCase each : model_cases()) {
    if (each.config.kind == "resnet18") continue;  // normalises over the batch
    each.config.dropout = 0.5;
    SCOPED_TRACE(each.name);
    const auto model = value_or_throw(make_model(each.config, each.facts, 2));
    model->to(at::kDouble);
    const Batch batch = batch_for(each.facts, 6);
    set_step(*model, {.seed = 1, .step = 3, .samples = batch.samples});
    const at::Tensor all = model->forward(batch.input);
    const std::span<const std::int64_t> numbers(batch.samples);
    set_step(*model, {.seed = 1, .step = 3, .samples = numbers.subspan(4, 1)});
    EXPECT_TRUE(at::allclose(model->forward(batch.input.narrow(0, 4, 1)), all.narrow(0, 4, 1), 1e-9, 1e-12));
    set_step(*model, {.seed = 1, .step = 4, .samples = batch.samples});
    const bool has_dropout =
        each.config.kind == "mlp" || each.config.kind == "lenet" || each.config.kind == "gpt";
    EXPECT_EQ(at::allclose(model->forward(batch.input), all), !has_dropout);
  }
}

}  // namespace
}  // namespace cohort
