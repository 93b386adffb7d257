#include <gtest/gtest.h>
#include <torch/nn.h>

namespace {

TEST(SharedParameters, LiveInMemoryThatSomebodyElseOwns) {
  std::vector<float> memory(64, 0.5f);
  torch::nn::Linear layer(3, 2);
  const at::Tensor flat = torch::from_blob(memory.data(), {64});
  layer->weight.set_data(flat.narrow(0, 16, 6).view({2, 3}));
  EXPECT_TRUE(layer->weight.is_leaf());
  EXPECT_TRUE(layer->weight.requires_grad());
  memory[16] = 2.0f;
  EXPECT_EQ(layer->weight[0][0].item<float>(), 2.0f);
  layer->forward(at::ones({1, 3})).sum().backward();
  EXPECT_TRUE(layer->weight.grad().defined());
}

TEST(SharedParameters, AFreedUnitSaysSoWhenItIsRead) {
  torch::nn::Linear layer(3, 2);
  c10::StorageImpl* storage = layer->weight.storage().unsafeGetStorageImpl();
  std::vector<float> refill(6, 1.0f);
  storage->set_data_ptr(c10::DataPtr(nullptr, c10::kCPU));
  storage->release_data_and_set_meta_custom_data_ptr_error_msg_("the unit is sharded; gather it first");
  try {
    layer->forward(at::ones({1, 3}));
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("the unit is sharded; gather it first"), std::string::npos);
  }
  storage->clear_data_ptr_access_error_msg_();
  storage->set_data_ptr(c10::DataPtr(refill.data(), c10::kCPU));
  EXPECT_EQ((layer->forward(at::ones({1, 3})) - layer->bias).sum().item<float>(), 6.0f);
}

TEST(SharedParameters, FusedUpdatesDoNotDependOnWhereAShardIsCut) {
  const auto update = [](std::vector<std::int64_t> cuts) {
    at::Tensor parameter = at::arange(100, at::kFloat) / 100, gradient = at::arange(100, at::kFloat).sin();
    at::Tensor mean = at::zeros({100}), square = at::zeros({100});
    std::int64_t start = 0;
    cuts.push_back(100);
    for (const std::int64_t end : cuts) {
      const auto part = [&](const at::Tensor& t) {
        return std::vector<at::Tensor>{t.narrow(0, start, end - start)};
      };
      at::_fused_adamw_(part(parameter), part(gradient), part(mean), part(square), {}, {at::ones({})}, 1e-2,
                        0.9, 0.999, 0.01, 1e-8, false, false);
      start = end;
    }
    return parameter;
  };
  EXPECT_TRUE(at::equal(update({}), update({1, 17, 50, 99})));
}

}  // namespace
