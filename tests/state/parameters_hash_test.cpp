#include "state/tensor_view.h"

#include "tensors.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

const TensorView kWeight{.name = "w", .dtype = DType::kF32, .shape = {1, 2}, .bytes = bytes_of("abcdefgh")};
const TensorView kBias{.name = "b", .dtype = DType::kF32, .shape = {1}, .bytes = bytes_of("ijkl")};

std::string hash(const std::vector<TensorView>& tensors) {
  return parameters_hash(tensors);
}

TEST(ParametersHash, IsSixteenDigitsThatStayTheSame) {
  // Users compare hashes of runs with different versions of Cohort.
  EXPECT_EQ(hash({kWeight, kBias}), "c6ded7776946d2d7");
  EXPECT_EQ(hash({kWeight}).find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(hash({kWeight}).size(), 16u);
  EXPECT_EQ(hash({}).size(), 16u);
}

TEST(ParametersHash, SeesEverythingAndItsOrder) {
  std::vector<std::string> hashes = {hash({}), hash({kWeight}), hash({kWeight, kBias}),
                                     hash({kBias, kWeight})};
  TensorView other = kWeight;
  other.name = "v";
  hashes.push_back(hash({other}));
  other = kWeight;
  other.shape = {2, 1};
  hashes.push_back(hash({other}));
  other = kWeight;
  other.dtype = DType::kI32;
  hashes.push_back(hash({other}));
  other = kWeight;
  other.bytes = bytes_of("abcdefgi");
  hashes.push_back(hash({other}));
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

}  // namespace
}  // namespace cohort
