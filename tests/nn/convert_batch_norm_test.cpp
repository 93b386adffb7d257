#include <cohort/batch_norm.h>
#include <cohort/error.h>

#include "nn/synchronised_layers.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sstream>
#include <torch/nn.h>
#include <torch/serialize.h>

namespace cohort::test {
namespace {

using torch::nn::BatchNorm1d;
using torch::nn::BatchNorm2d;
using torch::nn::BatchNorm3d;
using torch::nn::Sequential;

/// A residual block: a user's module around containers.
struct Block : torch::nn::Module {
  Block() {
    body = register_module("body", Sequential(torch::nn::Conv2d(2, 2, 1), BatchNorm2d(2), torch::nn::ReLU()));
    norms = register_module("norms", torch::nn::ModuleDict());
    norms->update(std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>>{
        {"one", BatchNorm1d(3).ptr()},
        {"line", torch::nn::Linear(3, 3).ptr()},
        {"two", BatchNorm2d(3).ptr()}});
    list = register_module("list", torch::nn::ModuleList(torch::nn::Linear(1, 1), BatchNorm3d(4)));
  }
  Sequential body{nullptr};
  torch::nn::ModuleDict norms{nullptr};
  torch::nn::ModuleList list{nullptr};
};

TEST(ConvertSyncBatchNorm, ReplacesLayersInContainersAtAnyDepth) {
  auto block = std::make_shared<Block>();
  torch::nn::ModuleList net(block, Sequential(BatchNorm2d(2)));
  const auto before = net->named_parameters();
  const auto buffers = net->named_buffers();
  block->norms["one"]->eval();
  EXPECT_EQ(nn::convert_sync_batch_norm(*net), 5u);

  EXPECT_EQ(nn::synchronised_layers(*net).size(), 5u);
  const auto after = net->named_parameters();
  ASSERT_EQ(after.keys(), before.keys());
  for (const auto& each : before) EXPECT_TRUE(after[each.key()].is_same(each.value())) << each.key();
  ASSERT_EQ(net->named_buffers().keys(), buffers.keys());
  for (const auto& each : buffers) {
    EXPECT_EQ(net->named_buffers()[each.key()].data_ptr(), each.value().data_ptr()) << each.key();
  }
  EXPECT_EQ(block->list->at<nn::SyncBatchNorm3dImpl>(1).options.num_features(), 4);
  EXPECT_FALSE(block->norms["one"]->is_training());
}

TEST(ConvertSyncBatchNorm, KeepsOptionsAndMode) {
  Sequential net(BatchNorm2d(torch::nn::BatchNormOptions(2).momentum(std::nullopt).eps(0.5)), BatchNorm1d(3));
  net[1]->eval();
  nn::convert_sync_batch_norm(*net);
  const auto& first = net->at<nn::SyncBatchNorm2dImpl>(0);
  EXPECT_EQ(first.options.eps(), 0.5);
  EXPECT_FALSE(first.options.momentum());
  EXPECT_TRUE(first.is_training());
  EXPECT_FALSE(net->at<nn::SyncBatchNorm1dImpl>(1).is_training());
}

TEST(ConvertSyncBatchNorm, ForwardOfContainersUsesTheNewLayers) {
  Sequential net(torch::nn::Linear(2, 3), BatchNorm1d(3));
  const at::Tensor x = at::arange(8, at::kFloat).view({4, 2});
  nn::convert_sync_batch_norm(*net);
  EXPECT_THROW(net->forward(x), UsageError);  // without a group
  net->eval();
  EXPECT_EQ(net->forward(x).size(1), 3);
}

TEST(ConvertSyncBatchNorm, ALayerAtTwoPlacesStaysOneLayer) {
  torch::nn::ModuleList net;
  {
    const BatchNorm1d shared(3);
    net->push_back(shared.ptr());
    net->push_back(Sequential(torch::nn::Linear(3, 3), shared).ptr());
  }
  EXPECT_EQ(nn::convert_sync_batch_norm(*net), 1u);
  EXPECT_EQ(net->ptr(0), net->at<torch::nn::SequentialImpl>(1).ptr(1));
}

TEST(ConvertSyncBatchNorm, AContainerAtTwoPlacesIsConvertedOnce) {
  torch::nn::ModuleList net;
  {
    const Sequential shared(BatchNorm1d(3));
    net->push_back(shared.ptr());
    net->push_back(shared.ptr());
  }
  EXPECT_EQ(nn::convert_sync_batch_norm(*net), 1u);
  EXPECT_EQ(nn::convert_sync_batch_norm(*net), 0u);
}

std::string refusal_of(torch::nn::Module& module) {
  try {
    nn::convert_sync_batch_norm(module);
  } catch (const UsageError& error) {
    return error.text();
  }
  return "nothing was thrown";
}

TEST(ConvertSyncBatchNorm, AMemberOfAClassIsRefusedAndNothingReplaced) {
  struct Net : torch::nn::Module {
    Net() {
      body = register_module("body", Sequential(BatchNorm1d(2)));
      norm = register_module("norm", BatchNorm1d(2));
    }
    Sequential body{nullptr};
    BatchNorm1d norm{nullptr};
  };
  Net net;
  const std::string text = refusal_of(net);
  EXPECT_NE(text.find("'norm' (torch::nn::BatchNorm1dImpl)"), std::string::npos) << text;
  EXPECT_NE(text.find("cohort::nn::SyncBatchNorm"), std::string::npos) << text;
  EXPECT_TRUE(nn::synchronised_layers(net).empty());
}

TEST(ConvertSyncBatchNorm, AVariableBesideAContainerIsRefused) {
  auto norm = std::make_unique<BatchNorm1d>(2);
  Sequential net(*norm);
  EXPECT_NE(refusal_of(*net).find("'0'"), std::string::npos);
  norm.reset();
  EXPECT_EQ(nn::convert_sync_batch_norm(*net), 1u);
}

TEST(ConvertSyncBatchNorm, ABatchNormItselfIsRefused) {
  BatchNorm1d norm(2);
  EXPECT_NE(refusal_of(*norm).find("cannot replace itself"), std::string::npos);
}

TEST(ConvertSyncBatchNorm, StatesAreThoseOfTorch) {
  BatchNorm1d from(3);
  from->running_mean.fill_(7);
  from->num_batches_tracked.fill_(5);
  std::stringstream stream;
  torch::save(from, stream);
  nn::SyncBatchNorm1d to(3);
  torch::load(to, stream);
  EXPECT_EQ(to->running_mean[2].item<float>(), 7);
  EXPECT_EQ(to->num_batches_tracked.item<std::int64_t>(), 5);
  std::ostringstream text;
  text << *to;
  EXPECT_EQ(text.str(), "cohort::nn::SyncBatchNorm1d(3)");
}

TEST(ConvertSyncBatchNorm, ACloneKeepsTensorsAndGroup) {
  const nn::SyncBatchNorm1d layer(3);
  layer->running_mean.fill_(7);
  const auto copy = std::dynamic_pointer_cast<nn::SyncBatchNorm1dImpl>(layer->clone());
  EXPECT_EQ(copy->running_mean[2].item<float>(), 7);
  EXPECT_NE(copy->running_mean.data_ptr(), layer->running_mean.data_ptr());
  EXPECT_EQ(copy->exchange(), layer->exchange());
}

}  // namespace
}  // namespace cohort::test
