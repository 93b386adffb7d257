#include "machine/findings.h"

#include <gtest/gtest.h>

namespace cohort::machine {
namespace {

TEST(Fitted, LeavesShortTextAlone) {
  EXPECT_EQ(fitted(""), "");
  EXPECT_EQ(fitted(std::string(kLongestFound, 'a')), std::string(kLongestFound, 'a'));
}

TEST(Fitted, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(fitted(std::string(kLongestFound + 1, 'a')), std::string(kLongestFound - 1, 'a') + "…");
  std::string wide;
  std::string cut;
  for (std::size_t i = 0; i < kLongestFound + 5; ++i) wide += "×";
  for (std::size_t i = 0; i < kLongestFound - 1; ++i) cut += "×";
  EXPECT_EQ(fitted(wide), cut + "…");
}

TEST(Fitted, IsOneLine) {
  EXPECT_EQ(fitted("a\nb\tc"), "a b c");
}

TEST(Findings, KeepTheirOrder) {
  Findings findings;
  findings.fine("a", "1");
  findings.unknown("b", Error(ErrorCode::kIo, "no answer"));
  findings.problem("c", "3", "Mend it.");
  const std::vector<Finding> taken = std::move(findings).take();
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0].remedy, "");
  EXPECT_EQ(taken[1].severity, Severity::kNote);
  EXPECT_EQ(taken[1].found, "not known: no answer");
  EXPECT_EQ(taken[2].topic, "c");
}

}  // namespace
}  // namespace cohort::machine
