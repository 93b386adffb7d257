#include "train/small_models.h"
#include "train/training_world.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

/// Inputs are sparse, which the data set stacks itself.
struct SparseRows final : Dataset {
  std::int64_t size() const override { return 24; }
  Sample at(std::int64_t index) const override {
    const Sample dense = WholeNumbers(24).at(index);
    return {dense.input.to_sparse(), dense.target};
  }
  Batch batch(std::span<const std::int64_t> indices, const Draw& draw) const override {
    Batch batch = WholeNumbers(24).Dataset::batch(indices, draw);
    batch.input = batch.input.to_sparse();
    return batch;
  }
};

TEST(SparseInputs, ReachTheModelAsTheyAre) {
  EXPECT_WORLD_OK(run_training(2, [](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    const Objective objective = [&](const Batch& batch) {
      EXPECT_TRUE(batch.input.is_sparse());
      const at::Tensor output = at::mm(batch.input, layer->weight.t()) + layer->bias;
      return Evaluation{.loss = (output - batch.target).square().sum(),
                        .weight = static_cast<double>(batch.samples.size())};
    };
    Trainer sparse(group, arena, layer.ptr(), objective, exact_options());
    sparse.fit(std::make_shared<SparseRows>());
    auto other = exact_linear();
    Trainer dense(group, arena, other.ptr(), squared_error(other), exact_options());
    dense.fit(std::make_shared<WholeNumbers>(24));
    EXPECT_EQ(numbers_of(*layer), numbers_of(*other));
  }));
}

}  // namespace
}  // namespace cohort::test
