#include "torch_facts.h"

#include <cohort/version.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

TEST(TorchFacts, TheLoadedLibraryIsTheOneBuiltAgainst) {
  const TorchFacts facts = torch_facts();
  EXPECT_EQ(facts.version.substr(0, built_against_libtorch().size()), built_against_libtorch());
  EXPECT_GE(facts.threads, 1);
  EXPECT_NE(facts.capability, "");
  EXPECT_GT(facts.matmul_ms, 0.0);
}

}  // namespace
}  // namespace cohort
