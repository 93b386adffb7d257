#include "supervise/cores.h"
#include "supervise/rank_variables.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace cohort::test {
namespace {

using supervise::cores_of_rank;
using supervise::thread_variables;

TEST(CoresOfRank, ShareAllCoresOutEvenlyAndInOrder) {
  for (const int count : {1, 2, 3, 7, 8, 13}) {
    std::vector<int> cores;
    for (int i = 0; i < count; ++i) cores.push_back(3 * i + 1);
    for (int ranks = 1; ranks <= count; ++ranks) {
      std::vector<int> all;
      std::set<std::size_t> sizes;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto part = cores_of_rank(cores, rank, ranks);
        sizes.insert(part.size());
        all.insert(all.end(), part.begin(), part.end());
      }
      EXPECT_EQ(all, cores) << ranks << " ranks";
      EXPECT_LE(*sizes.rbegin() - *sizes.begin(), 1u) << ranks << " ranks";
    }
  }
}

TEST(CoresOfRank, TakeTurnsWhereThereAreMoreRanks) {
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(cores_of_rank({4, 9}, rank, 5), (std::vector<int>{rank % 2 == 0 ? 4 : 9}));
  }
}

TEST(AllowedCores, AreThereAndAscend) {
  const auto cores = *supervise::allowed_cores();
  ASSERT_FALSE(cores.empty());
  EXPECT_TRUE(std::is_sorted(cores.begin(), cores.end()));
}

TEST(ThreadsOfRank, AreAtLeastOne) {
  EXPECT_EQ(supervise::threads_of_rank(8, 3), 2);
  EXPECT_EQ(supervise::threads_of_rank(2, 2), 1);
  EXPECT_EQ(supervise::threads_of_rank(2, 5), 1);
  EXPECT_EQ(supervise::threads_of_rank(7, 1), 7);
}

TEST(ThreadVariables, KeepWhatTheUserSet) {
  using Map = EnvironmentVariables;
  const Map even{{"OMP_NUM_THREADS", "3"}, {"MKL_NUM_THREADS", "3"}, {"OPENBLAS_NUM_THREADS", "3"}};
  EXPECT_EQ(thread_variables({}, std::nullopt, 3), even);
  EXPECT_EQ(thread_variables({{"OMP_NUM_THREADS", ""}}, std::nullopt, 3), even);
  EXPECT_EQ(thread_variables({{"OMP_NUM_THREADS", "8"}}, std::nullopt, 3), Map{})
      << "the others follow it as long as they are not set";
  EXPECT_EQ(thread_variables({{"MKL_NUM_THREADS", "8"}}, std::nullopt, 3),
            (Map{{"OMP_NUM_THREADS", "3"}, {"OPENBLAS_NUM_THREADS", "3"}}));
}

TEST(ThreadVariables, WhatIsAskedForReplacesThem) {
  const auto variables = thread_variables({{"OMP_NUM_THREADS", "8"}, {"MKL_NUM_THREADS", "7"}}, 2, 3);
  EXPECT_EQ(variables,
            (EnvironmentVariables{
                {"OMP_NUM_THREADS", "2"}, {"MKL_NUM_THREADS", "2"}, {"OPENBLAS_NUM_THREADS", "2"}}));
}

TEST(FreshRendezvous, IsNeverTheSame) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert(*supervise::fresh_rendezvous());
  EXPECT_EQ(names.size(), 100u);
}

}  // namespace
}  // namespace cohort::test
