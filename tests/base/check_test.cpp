#include "base/check.h"

#include <functional>
#include <gtest/gtest.h>
#include <vector>

namespace cohort {
namespace {

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const BugError& error) {
    return error.message();
  }
  return "nothing thrown";
}

TEST(Check, ShowsTheConditionAndTheDetails) {
  const std::vector<int> queue{1};
  EXPECT_EQ(message_of([&] { COHORT_CHECK(queue.empty()); }), "check failed: queue.empty()");
  EXPECT_EQ(message_of([&] { COHORT_CHECK(queue.empty(), "rank {}", 3); }),
            "check failed: queue.empty(); rank 3");
}

TEST(Check, ShowsBothOperands) {
  const int parts = 3;
  const int world = 4;
  EXPECT_EQ(message_of([&] { COHORT_CHECK_EQ(parts, world); }), "check failed: parts == world (3 against 4)");
  EXPECT_EQ(message_of([&] { COHORT_CHECK_GE(parts, world, "group {}", 'a'); }),
            "check failed: parts >= world (3 against 4); group a");
}

TEST(Check, EvaluatesEachOperandOnce) {
  int calls = 0;
  const auto next = [&calls] { return ++calls; };
  COHORT_CHECK_EQ(next(), 1);
  COHORT_CHECK(next() == 2);
  EXPECT_EQ(calls, 2);
}

TEST(Check, ComparesWhatCannotBeShown) {
  struct Opaque {
    bool operator==(const Opaque&) const { return false; }
  };
  EXPECT_EQ(message_of([] { COHORT_CHECK_EQ(Opaque{}, Opaque{}); }),
            "check failed: Opaque{} == Opaque{} (<value> against <value>)");
}

TEST(Check, CarriesTheLineItStandsOn) {
  try {
    COHORT_CHECK(false);
    FAIL();
  } catch (const BugError& error) {
    EXPECT_EQ(error.location().line, __LINE__ - 3);
  }
}

}  // namespace
}  // namespace cohort
