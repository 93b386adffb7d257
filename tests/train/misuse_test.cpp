#include "small_models.h"
#include "training_world.h"

#include <cohort/context.h>
#include <cohort/data_parallel.h>
#include <cohort/views.h>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

namespace cohort::test {
namespace {

// Changes that users make to a module before, between and during the steps of a trainer.

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(TrainerMisuse, EarlierGradientsAreNotUsed) {
  const auto data = std::make_shared<WholeNumbers>(32);
  std::array<std::vector<float>, 2> trained;
  for (const bool has_gradients : {false, true}) {
    const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
      auto layer = exact_linear();
      Trainer trainer(group, arena, layer.ptr(), squared_error(layer), exact_options());
      if (has_gradients) layer->weight.mutable_grad() = torch::ones_like(layer->weight);
      trainer.fit(data);
      if (group.rank() == 0) trained.at(has_gradients ? 1 : 0) = numbers_of(*layer);
    });
    EXPECT_WORLD_OK(outcome);
  }
  EXPECT_EQ(trained[0], trained[1]);
}

// The second step fails, after the collective calls that only the first step makes.
TEST(TrainerMisuse, AfterAFailureNothingIsTrained) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    int calls = 0;
    Objective inner = squared_error(layer);
    Trainer trainer(
        group, arena, layer.ptr(),
        [&](const Batch& batch) {
          if (++calls == 2) throw std::runtime_error("planted");
          return inner(batch);
        },
        exact_options());
    const auto data = std::make_shared<WholeNumbers>(32);
    EXPECT_NE(failure_of([&] { trainer.fit(data); }).find("planted"), std::string::npos);
    EXPECT_NE(failure_of([&] { trainer.fit(data); }), "");
    EXPECT_EQ(calls, 2);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(TrainerMisuse, AParameterWhoseMemoryWasReplacedIsNamed) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    Trainer trainer(group, arena, layer.ptr(), squared_error(layer), exact_options());
    layer->weight.set_data(layer->weight.detach().clone());
    const std::string said = failure_of([&] { trainer.fit(std::make_shared<WholeNumbers>(32)); });
    EXPECT_NE(said.find("'weight' was replaced"), std::string::npos) << said;
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(TrainerMisuse, RanksWithOtherDataOrSettingsAreNamed) {
  struct Case {
    std::int64_t samples;
    TrainerOptions options;
    std::string words;
  };
  TrainerOptions batch = exact_options(), rate = exact_options(), groups = exact_options(),
                 directory = exact_options();
  batch.batch_size = 8;
  rate.optimizer.learning_rate = 0.5;
  groups.groups = {{.patterns = {"bias"}, .weight_decay = 0}};
  directory.directory = testing::TempDir();
  const Case cases[] = {
      {22, exact_options(), "the number of samples to train with is 22 on rank 1 and 32 on rank 0"},
      {32, batch, "TrainerOptions::batch_size is 8 on rank 1 and 16 on rank 0"},
      {32, rate, "TrainerOptions::optimizer.learning_rate is 0.5 on rank 1 and 0.0625 on rank 0"},
      {32, groups, "TrainerOptions::groups is "},
      {32, directory, "whether TrainerOptions::directory is set is 1 on rank 1 and 0 on rank 0"}};
  for (const Case& each : cases) {
    EXPECT_WORLD_OK(run_training(3, [&](Communicator& group, Arena& arena) {
      auto layer = exact_linear();
      const bool differs = group.rank() == 1;
      Trainer trainer(group, arena, layer.ptr(), squared_error(layer),
                      differs ? each.options : exact_options());
      const auto data = std::make_shared<WholeNumbers>(differs ? each.samples : 32);
      const std::string said = failure_of([&] { trainer.fit(data); });
      EXPECT_NE(said.find(each.words), std::string::npos) << said;
    }));
  }
}

TEST(TrainerMisuse, ALossThatIsNotOneNumberIsNamed) {
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    const auto said = [&](const std::function<at::Tensor(const Batch&)>& loss) {
      Trainer trainer(group, arena, layer.ptr(), [&](const Batch& batch) {
        return Evaluation{.loss = loss(batch), .weight = static_cast<double>(batch.samples.size())};
      });
      return failure_of([&] { trainer.fit(std::make_shared<WholeNumbers>(32)); });
    };
    const std::string several = said([&](const Batch& batch) { return layer->forward(batch.input); });
    EXPECT_NE(several.find("the objective returned a tensor of sizes [16, 1] as loss"), std::string::npos)
        << several;
  }));
}

TEST(TrainerMisuse, ALossWithoutAGradientIsNamed) {
  EXPECT_WORLD_OK(run_training(1, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    Trainer trainer(group, arena, layer.ptr(),
                    [&](const Batch&) { return Evaluation{.loss = at::ones({}), .weight = 1}; });
    const std::string said = failure_of([&] { trainer.fit(std::make_shared<WholeNumbers>(32)); });
    EXPECT_NE(said.find("does not depend on a parameter"), std::string::npos) << said;
  }));
}

TEST(TrainerMisuse, AContextMayBeDestroyedBeforeItsTrainer) {
  auto layer = exact_linear();
  auto context = std::make_unique<Context>();
  Trainer trainer(*context, layer.ptr(), squared_error(layer), exact_options());
  DataParallel parallel(*context, *layer);
  context.reset();
  EXPECT_EQ(trainer.fit(std::make_shared<WholeNumbers>(32)).steps, 2);
}

struct Elsewhere : torch::nn::Module {
  Elsewhere() { register_parameter("weight", at::ones({2}, at::kMeta)); }
};

TEST(TrainerMisuse, AModuleThatIsNotInMemoryIsNamed) {
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena& arena) {
    Elsewhere net;
    const std::string said = failure_of([&] { DataParallel(group, arena, net); });
    EXPECT_NE(said.find("'weight' of the module is on the device meta"), std::string::npos) << said;
  }));
}

TEST(TrainerMisuse, RanksWithOtherSamplesAreNamed) {
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    Trainer trainer(group, arena, layer.ptr(), squared_error(layer), exact_options());
    std::shared_ptr<const Dataset> data = std::make_shared<WholeNumbers>(32);
    if (group.rank() == 1) data = std::make_shared<RoughNumbers>(32);
    const std::string said = failure_of([&] { trainer.fit(data); });
    EXPECT_NE(said.find("the checksum of samples to train with is "), std::string::npos) << said;
  }));
}

TEST(TrainerMisuse, RanksWithOtherMasksAreNamed) {
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    Trainer trainer(group, arena, layer.ptr(), squared_error(layer), exact_options());
    const int rank = group.rank();
    const auto data = transform(std::make_shared<WholeNumbers>(32), [rank](Sample sample, std::int64_t) {
      sample.others = {{"mask", at::full({3}, rank)}};
      return sample;
    });
    const std::string said = failure_of([&] { trainer.fit(data); });
    EXPECT_NE(said.find("the checksum of samples to train with is "), std::string::npos) << said;
  }));
}

TEST(TrainerMisuse, ARankWithAnotherModuleIsNamed) {
  std::array<std::string, 3> said;
  const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
    auto net = group.rank() == 1 ? torch::nn::Sequential(torch::nn::Linear(5, 2), torch::nn::Linear(2, 5))
                                 : torch::nn::Sequential(torch::nn::Linear(2, 5), torch::nn::Linear(5, 2));
    said.at(static_cast<std::size_t>(group.rank())) = failure_of(
        [&] { const Trainer trainer(group, arena, net.ptr(), [](const Batch&) { return Evaluation{}; }); });
  });
  EXPECT_WORLD_OK(outcome);
  for (const std::string& text : said)
    EXPECT_NE(text.find("the module of rank 1"), std::string::npos) << text;
}

TEST(TrainerMisuse, TheDestructorUnfreezesParameters) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    TrainerOptions options = exact_options();
    options.groups = {{.patterns = {"bias"}, .frozen = true}};
    for (int i = 0; i < 2; ++i) {
      const Trainer trainer(group, arena, layer.ptr(), squared_error(layer), options);
      EXPECT_FALSE(layer->bias.requires_grad());
    }
    EXPECT_TRUE(layer->bias.requires_grad());
  });
  EXPECT_WORLD_OK(outcome);
}

// Activation checkpointing: forward without a graph, and again with one in backward.
struct Recomputed : torch::autograd::Function<Recomputed> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const torch::nn::Linear& layer) {
    context->save_for_backward({input});
    context->saved_data["layer"] = reinterpret_cast<std::int64_t>(layer.get());
    return torch::tanh(torch::linear(input, layer->weight, layer->bias));
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const at::AutoGradMode with_graph(true);
    auto* layer = reinterpret_cast<torch::nn::LinearImpl*>(context->saved_data["layer"].toInt());
    const at::Tensor input = context->get_saved_variables()[0].detach().requires_grad_();
    const at::Tensor output = torch::tanh(torch::linear(input, layer->weight, layer->bias));
    torch::autograd::backward({output}, {gradients[0]});
    return {input.grad(), at::Tensor()};
  }
};

TEST(TrainerMisuse, AGradientThatComesInTwoPartsIsWaitedFor) {
  const auto data = std::make_shared<RoughNumbers>(64);
  std::array<std::vector<float>, 2> trained;
  for (const bool recomputes : {false, true}) {
    const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
      auto net = with_fixed_numbers(torch::nn::Sequential(torch::nn::Linear(6, 6), torch::nn::Linear(6, 3)));
      torch::nn::Linear shared(std::dynamic_pointer_cast<torch::nn::LinearImpl>(net->ptr(0)));
      torch::nn::Linear last(std::dynamic_pointer_cast<torch::nn::LinearImpl>(net->ptr(1)));
      const auto layer = [&](const at::Tensor& x) {
        return recomputes ? Recomputed::apply(x, shared) : torch::tanh(shared->forward(x));
      };
      const auto loss = [&](const Batch& batch) -> at::Tensor {
        const at::Tensor x = batch.input.clone().requires_grad_();
        return at::cross_entropy_loss(last->forward(layer(layer(x))), batch.target);
      };
      Trainer trainer(group, arena, net.ptr(), mean_loss(loss),
                      {.optimizer = {.learning_rate = 0.1}, .batch_size = 16, .epochs = 2});
      trainer.fit(data);
      if (group.rank() == 0) trained.at(recomputes ? 1 : 0) = numbers_of(*net);
    });
    EXPECT_WORLD_OK(outcome);
  }
  ASSERT_EQ(trained[0].size(), trained[1].size());
  for (std::size_t i = 0; i < trained[0].size(); ++i) EXPECT_NEAR(trained[0][i], trained[1][i], 1e-5) << i;
}

struct Sum : torch::nn::Module {
  Sum() {
    a = register_parameter("a", torch::full({64}, 0.5f));
    b = register_parameter("b", torch::full({8, 8}, -0.25f));
    c = register_parameter("c", torch::full({1, 64}, 0.125f));
  }
  at::Tensor a, b, c;
};

// Autograd gives both operands of a sum views of the same gradient. With buckets of 64 bytes these parameters
// count as large.
TEST(TrainerMisuse, GradientsThatLieInTheSameMemory) {
  const auto data = std::make_shared<WholeNumbers>(32);
  for (const std::optional<double> clip_norm : {std::optional<double>(), std::optional(1000.0)}) {
    std::vector<std::vector<float>> trained;
    for (const std::size_t bucket_bytes : {std::size_t{64}, std::size_t{1} << 20}) {
      const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
        auto net = std::make_shared<Sum>();
        const auto loss = [net](const Batch& batch) -> Evaluation {
          const at::Tensor x = batch.input.sum() * (net->a + net->b.view({64}) + net->c.squeeze(0));
          return {.loss = (x * x).sum() * 0.001, .weight = static_cast<double>(batch.samples.size())};
        };
        TrainerOptions options = exact_options();
        options.micro_batches = 4;
        options.clip_grad_norm = clip_norm;
        options.bucket_bytes = bucket_bytes;
        Trainer trainer(group, arena, net, loss, options);
        trainer.fit(data);
        if (group.rank() == 0) trained.push_back(numbers_of(*net));
      });
      EXPECT_WORLD_OK(outcome);
    }
    EXPECT_EQ(trained.at(0), trained.at(1)) << clip_norm.value_or(0);
  }
}

}  // namespace
}  // namespace cohort::test
