// Parameters whose masked elements stay zero.

#include "state/safetensors.h"
#include "storage/local_file_system.h"
#include "storage/temporary_directory.h"
#include "train/small_models.h"
#include "train/training_world.h"
#include "update/optimizer.h"

#include <gtest/gtest.h>
#include <map>
#include <torch/optim/adamw.h>

namespace cohort::test {
namespace {

TrainerOptions masking(double sparsity) {
  return {.optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.05, .weight_decay = 0.1},
          .mask = {.sparsity = sparsity},
          .batch_size = 8,
          .epochs = 2,
          .bucket_bytes = 256};
}

/// The effect of torch.nn.utils.prune: the layer computes with weight * mask, and its weight is another
/// parameter.
struct Pruned : torch::nn::Module {
  explicit Pruned(double amount) {
    auto plain = small_net();
    for (const auto& each : plain->named_parameters()) {
      std::string name = each.key();
      std::replace(name.begin(), name.end(), '.', '_');
      own.push_back(register_parameter(name, each.value().detach().clone()));
      at::Tensor mask = at::ones_like(own.back());
      if (mask.dim() == 2) {
        const auto zeros =
            static_cast<std::int64_t>(std::nearbyint(amount * static_cast<double>(mask.numel())));
        const auto smallest =
            std::get<1>(own.back().detach().abs().view(-1).topk(zeros, -1, /*largest=*/false));
        mask.view(-1).index_fill_(0, smallest, 0);
      }
      masks.push_back(mask);
    }
  }
  std::vector<at::Tensor> effective() const {
    std::vector<at::Tensor> all;
    for (std::size_t i = 0; i < own.size(); ++i) all.push_back(own[i] * masks[i]);
    return all;
  }
  at::Tensor forward(const at::Tensor& input) {
    const std::vector<at::Tensor> p = effective();
    return at::linear(at::tanh(at::linear(input, p[0], p[1])), p[2], p[3]);
  }

  std::vector<at::Tensor> own, masks;
};

std::vector<float> flat(const std::vector<at::Tensor>& tensors) {
  std::vector<float> all;
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor one = tensor.detach().contiguous();
    all.insert(all.end(), one.const_data_ptr<float>(), one.const_data_ptr<float>() + one.numel());
  }
  return all;
}

std::int64_t zeros_in(const torch::nn::Module& module) {
  const std::vector<float> numbers = numbers_of(module);
  return std::count(numbers.begin(), numbers.end(), 0.0f);
}

// The gradients of masked elements are not part of the norm, either.
TEST(Masks, TrainAsPrunedLayersOfTorch) {
  for (const int world : {1, 2, 3}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      for (const std::optional<double> clip : {std::optional<double>(), std::optional(0.05)}) {
        TrainerOptions options = masking(0.5);
        options.optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 0.05};
        options.clip_grad_norm = clip;
        auto net = small_net();
        Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
        const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(43));
        EXPECT_EQ(report.masked, 27 + 14);  // half of 9*6, and of 3*9, ties to even
        options.mask = {};
        const auto pruned = std::make_shared<Pruned>(0.5);
        Trainer reference(group, arena, pruned, cross_entropy(pruned), options);
        reference.fit(std::make_shared<RoughNumbers>(43));
        const std::vector<float> found = numbers_of(*net), expected = flat(pruned->effective());
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
        EXPECT_EQ(zeros_in(*net), std::count(expected.begin(), expected.end(), 0.0f));
      }
    });
    EXPECT_WORLD_OK(outcome);
  }
}

// Also with a term below which 0/0 would be NaN.
TEST(Masks, HoldExactZerosWithEveryOptimizer) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    for (const std::string& name : optimizer_names()) {
      auto net = small_net();
      TrainerOptions options = masking(0.25);
      options.optimizer = {.kind = *optimizer_named(name), .learning_rate = 0.01, .weight_decay = 0.5};
      const bool has_norms = name == "lamb" || name == "lars" || name == "adafactor" || name == "muon";
      if (with_defaults(options.optimizer).eps && !has_norms) options.optimizer.eps = 0;
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
      trainer.fit(std::make_shared<RoughNumbers>(43));
      EXPECT_EQ(zeros_in(*net), 14 + 7) << name;
      const std::vector<float> numbers = numbers_of(*net);
      EXPECT_TRUE(std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); }))
          << name;
      std::map<std::string, std::vector<float>> pieces;
      trainer.visit_state([&](const Piece& piece) {
        if (piece.dtype != DType::kF32) return;
        const auto* const first = reinterpret_cast<const float*>(piece.bytes.data());
        auto& all = pieces[piece.name];
        all.insert(all.end(), first, first + piece.bytes.size() / sizeof(float));
      });
      const auto& mask = pieces.at("0.weight/mask");
      for (const auto& [piece, values] : pieces) {
        if (!piece.starts_with("0.weight/") || piece.ends_with("/mask")) continue;
        if (values.size() != mask.size()) continue;  // means over rows and columns
        for (std::size_t i = 0; i < mask.size(); ++i) {
          if (mask[i] == 0) EXPECT_EQ(values[i], 0) << name << " " << piece;
        }
      }
    }
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Masks, HoldZerosOfNarrowParametersAndOfAnOptimizerOfTorch) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    TrainerOptions options = masking(0.25);
    options.precision = {.compute = ComputeType::kBF16, .parameters = DType::kBF16};
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    trainer.fit(std::make_shared<RoughNumbers>(43));
    std::int64_t zeros = 0;
    for (const at::Tensor& parameter : net->parameters())
      zeros += (parameter == 0).sum().item<std::int64_t>();
    EXPECT_EQ(zeros, 14 + 7);
    auto other = small_net();
    torch::optim::AdamW optimizer(other->parameters(), torch::optim::AdamWOptions(0.05));
    options = masking(0.25);
    options.optimizer = {};
    Trainer of_torch(group, arena, other.ptr(), cross_entropy(other), &optimizer, options);
    of_torch.fit(std::make_shared<RoughNumbers>(43));
    EXPECT_EQ(zeros_in(*other), 14 + 7);
  });
  EXPECT_WORLD_OK(outcome);
}

std::vector<float> masked_run(int world, const TrainerOptions& options) {
  std::vector<float> numbers;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    if (group.rank() > 0) {  // rank 0 decides
      const at::NoGradGuard no_grad;
      for (at::Tensor& parameter : net->parameters()) parameter.add_(group.rank());
    }
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    trainer.fit(std::make_shared<RoughNumbers>(43));
    const std::vector<float> mine = numbers_of(*net);
    if (group.rank() == world - 1) numbers = mine;
  });
  EXPECT_WORLD_OK(outcome);
  return numbers;
}

TEST(Masks, HaveTheSameBitsInAnyWorld) {
  TrainerOptions options = masking(0.4);
  options.deterministic = Deterministic::kAnyWorld;
  options.micro_batches = 4;
  const std::vector<float> one = masked_run(1, options);
  EXPECT_EQ(masked_run(2, options), one);
  EXPECT_EQ(masked_run(4, options), one);
  options.one_copy = false;
  EXPECT_EQ(masked_run(4, options), one);
}

// The same elements of the shape, wherever they are in memory.
TEST(Masks, DoNotDependOnTheOrderOfMemory) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    std::vector<at::Tensor> kept;
    for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      torch::nn::Conv2d convolution(torch::nn::Conv2dOptions(2, 4, {2, 1}));
      auto net = with_fixed_numbers(
          torch::nn::Sequential(torch::nn::Unflatten(torch::nn::UnflattenOptions(1, {2, 3, 1})), convolution,
                                torch::nn::Flatten(), torch::nn::Linear(8, 3)));
      convolution->weight.set_data(convolution->weight.detach().contiguous(format));
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net), masking(0.5));
      trainer.fit(std::make_shared<RoughNumbers>(43));
      kept.push_back(convolution->weight.detach() != 0);
    }
    EXPECT_EQ(kept[0].sum().item<std::int64_t>(), 8);
    EXPECT_TRUE(at::equal(kept[0], kept[1]));
  });
  EXPECT_WORLD_OK(outcome);
}

void write_masks(const std::string& path, const std::map<std::string, at::Tensor>& masks) {
  LocalFileSystem files;
  std::vector<TensorView> views;
  for (const auto& [name, mask] : masks) {
    views.push_back({.name = name,
                     .dtype = mask.scalar_type() == at::kFloat ? DType::kF32 : DType::kU8,
                     .shape = mask.sizes().vec(),
                     .bytes = {static_cast<const std::byte*>(mask.const_data_ptr()), mask.nbytes()}});
  }
  value_or_throw(write_safetensors(files, path, views, {}));
}

TEST(Masks, ComeFromAFileThatRank0Reads) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/masks.safetensors";
  at::Tensor bytes = at::ones({9, 6}, at::kByte), floats = at::ones({3});
  bytes[3][4] = 0;
  bytes[8][5] = 0;
  floats[1] = 0;
  write_masks(path, {{"0.weight", bytes}, {"2.bias", floats}});
  for (const int world : {1, 3}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      auto net = small_net();
      TrainerOptions options = masking(0);
      options.mask = {.file = group.rank() == 0 ? path : "no such file"};
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
      const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(43));
      EXPECT_EQ(report.masked, 3);
      EXPECT_EQ(zeros_in(*net), 3);
      EXPECT_EQ(net->parameters()[0][3][4].item<float>(), 0);
      EXPECT_EQ(net->parameters()[0][8][5].item<float>(), 0);
      EXPECT_EQ(net->parameters()[3][1].item<float>(), 0);
    });
    EXPECT_WORLD_OK(outcome);
  }
}

std::string refusal_of(const MaskOptions& mask, int world = 2) {
  std::string text;
  (void)run_training(world, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    TrainerOptions options = masking(0.5);
    options.mask = mask;
    try {
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    } catch (const Error& error) {
      if (group.rank() == 0) text = error.text();
    }
  });
  return text;
}

TEST(Masks, FilesThatDoNotFitAreRefused) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/masks.safetensors";
  const auto expect = [&](const std::map<std::string, at::Tensor>& masks, const std::string& part) {
    write_masks(path, masks);
    const std::string text = refusal_of({.file = path});
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect({{"0.weigth", at::ones({9, 6})}}, "the model has no parameter '0.weigth' that is trained");
  expect({{"0.weight", at::ones({6, 9})}}, "its '0.weight' has shape [6, 9], the model's has [9, 6]");
  expect({{"0.weight", at::full({9, 6}, 0.5)}}, "its '0.weight' has numbers besides 0 and 1");
  expect({}, "has no masks");
  const std::string missing = refusal_of({.file = folder.path() + "/none"});
  EXPECT_NE(missing.find("cannot read TrainerOptions::mask.file"), std::string::npos) << missing;
  const std::string pattern = refusal_of({.sparsity = 0.5, .parameters = {"1.*"}});
  EXPECT_NE(pattern.find("the pattern '1.*'"), std::string::npos) << pattern;
  EXPECT_EQ(refusal_of({.sparsity = 0.5, .parameters = {"*.bias"}}), "");
}

}  // namespace
}  // namespace cohort::test
