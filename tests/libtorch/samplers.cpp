#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <torch/data/samplers/distributed.h>
#include <torch/nn.h>
#include <torch/optim/sgd.h>

// Facts that docs/samplers.md states.

namespace {

using Sampler = torch::data::samplers::DistributedRandomSampler;

std::vector<std::size_t> order_of(Sampler sampler, std::size_t epoch) {
  sampler.set_epoch(epoch);
  sampler.reset();
  std::vector<std::size_t> order;
  while (const auto batch = sampler.next(3)) order.insert(order.end(), batch->begin(), batch->end());
  return order;
}

TEST(DistributedRandomSampler, GivesEveryRankEquallyManySamplesAndAllRanksTogetherEverySample) {
  for (const std::size_t size : {1u, 2u, 7u, 12u, 13u}) {
    for (const std::size_t ranks : {1u, 2u, 3u, 5u}) {
      std::multiset<std::size_t> all;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto order = order_of(Sampler(size, ranks, rank), 4);
        EXPECT_EQ(order.size(), (size + ranks - 1) / ranks);
        all.insert(order.begin(), order.end());
      }
      for (std::size_t i = 0; i < size; ++i) {
        const bool is_repeated = size + i < all.size();
        EXPECT_EQ(all.count(i), is_repeated ? 2u : 1u)
            << size << " samples, " << ranks << " ranks, sample " << i;
      }
    }
  }
}

TEST(DistributedRandomSampler, WithoutDuplicatesLeavesSamplesOut) {
  std::set<std::size_t> all;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const auto order = order_of(Sampler(13, 3, rank, /*allow_duplicates=*/false), 0);
    EXPECT_EQ(order.size(), 4u);
    all.insert(order.begin(), order.end());
  }
  EXPECT_EQ(all.size(), 12u);
}

TEST(DistributedRandomSampler, HasAnotherOrderOnlyInAnotherEpoch) {
  torch::manual_seed(1);
  const Sampler sampler(100, 2, 0);
  const auto first = order_of(sampler, 0);
  torch::manual_seed(2);
  EXPECT_EQ(order_of(sampler, 0), first);
  EXPECT_NE(order_of(sampler, 1), first);
  Sampler again = sampler;
  again.reset();
  EXPECT_EQ(*again.next(50), first) << "without set_epoch() the order stays";
}

struct Tied : torch::nn::Module {
  torch::nn::Embedding embedding = register_module("embedding", torch::nn::Embedding(2, 2));
  at::Tensor output = register_parameter("output", embedding->weight);
};

TEST(TiedWeights, AreListedOncePerNameAndUpdatedAsOften) {
  Tied net;
  const std::vector<at::Tensor> listed = net.parameters();
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_TRUE(listed[0].is_same(listed[1]));
  for (const bool is_listed_twice : {true, false}) {
    const at::Tensor before = net.output.detach().clone();
    torch::optim::SGD optimizer(is_listed_twice ? listed : std::vector{listed[0]},
                                torch::optim::SGDOptions(0.25));
    optimizer.zero_grad();
    net.output.sum().backward();
    optimizer.step();
    const at::Tensor moved = before - net.output.detach();
    EXPECT_TRUE(at::allclose(moved, at::full_like(moved, is_listed_twice ? 0.5 : 0.25)));
  }
}

}  // namespace
