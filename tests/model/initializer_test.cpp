#include "model/initializer.h"

#include <ATen/ATen.h>
#include <cohort/tensor.h>
#include <gtest/gtest.h>
#include <vector>

namespace cohort::model {
namespace {

TEST(RandomWords, AreThoseOfTheBlocksOneByOne) {
  const StreamName names[] = {{0, 0}, {~0ull, ~0ull}, {0x123456789abcdef0, 77}};
  // Across the carry into the upper half of the counter as well.
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{5}, (std::uint64_t{1} << 32) - 3}) {
    for (const StreamName& name : names) {
      for (const std::size_t blocks : {0u, 1u, 7u, 8u, 9u, 31u}) {
        std::vector<std::uint32_t> fast(4 * blocks), plain(4 * blocks);
        random_words(name, first, fast);
        random_words_plain(name, first, plain);
        ASSERT_EQ(fast, plain) << first << " " << blocks;
      }
    }
  }
}

TEST(Initializer, GivesTheNumbersThatAFillGives) {
  Initializer initializer(5);
  for (const std::int64_t size : {0, 1, 63, 64, 65, 1000}) {
    const StreamName name = initializer.next();
    at::Tensor expected = at::empty({size});
    fill_uniform(expected, RandomStream(name.seed, name.stream), -0.3, 0.3);
    EXPECT_TRUE(at::equal(initializer.uniform({size}, 0.3), expected)) << size;
    const StreamName second = initializer.next();
    fill_normal(expected, RandomStream(second.seed, second.stream), 0, 0.02);
    EXPECT_TRUE(at::equal(initializer.normal({size}, 0.02), expected)) << size;
  }
}

TEST(Initializer, GivesEveryParameterAStreamOfItsOwn) {
  Initializer initializer(5);
  EXPECT_FALSE(at::equal(initializer.uniform({10}, 1), initializer.uniform({10}, 1)));
}

}  // namespace
}  // namespace cohort::model
