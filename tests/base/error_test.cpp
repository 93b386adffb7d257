#include "base/error_codes.h"
#include "base/result.h"

#include <gtest/gtest.h>
#include <set>

namespace cohort {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0)
    return Error(ErrorCode::kUsage, "the number is odd").with_remedy("Give an even number.");
  return number / 2;
}

Result<int> quarter(int number) {
  COHORT_ASSIGN_OR_RETURN(const int halved, half(number));
  COHORT_RETURN_IF_ERROR(half(halved));
  return half(halved).within("cannot halve twice");
}

TEST(Error, IsOneParagraphFromTheOutsideIn) {
  const Error root(ErrorCode::kPeerLost, "rank 3 closed its connection");
  const Error error = root.within("all_reduce #17 failed").within("step 42 was given up");
  EXPECT_EQ(error.text(), "step 42 was given up: all_reduce #17 failed: rank 3 closed its connection");
  EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
  EXPECT_EQ(error.root().message(), "rank 3 closed its connection");
  ASSERT_NE(error.cause(), nullptr);
  EXPECT_EQ(error.cause()->message(), "all_reduce #17 failed");
}

TEST(Error, TheRemedyComesLastAndTheOutermostWins) {
  const Error inner = Error(ErrorCode::kIo, "no space").with_remedy("Free some space.");
  EXPECT_EQ(inner.within("cannot write").text(), "cannot write: no space. Free some space.");
  EXPECT_EQ(inner.within("cannot save").with_remedy("Use --to.").text(), "cannot save: no space. Use --to.");
}

TEST(Error, KnowsTheRankItIsAbout) {
  const Error error = Error(ErrorCode::kPeerLost, "rank 3 ended");
  EXPECT_EQ(error.rank(), std::nullopt);
  EXPECT_EQ(error.with_rank(3).within("step 7").with_remedy("Start again.").rank(), 3);
  EXPECT_EQ(error.with_rank(3).within("a subgroup").with_rank(1).rank(), 1) << "the outermost counts";
  EXPECT_EQ(error.with_rank(3).text(), error.text());
}

TEST(Error, WhatAddsCodeAndPlaceOfTheRoot) {
  const Error error = Error(ErrorCode::kTimedOut, "no answer").within("cannot join");
  const std::string expected =
      "cannot join: no answer [timed_out at tests/base/error_test.cpp:" + std::to_string(__LINE__ - 2) + "]";
  EXPECT_EQ(error.what(), expected);
}

TEST(Error, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(kLastErrorCode); ++code)
    names.insert(name(static_cast<ErrorCode>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLastErrorCode) + 1);
  EXPECT_EQ(name(ErrorCode::kIo), "io");
  EXPECT_EQ(name(ErrorCode::kPeerLost), "peer_lost");
  EXPECT_EQ(name(kLastErrorCode), "diverged");
}

TEST(Error, OnlyWhatARetryCanMendIsRecoverable) {
  EXPECT_TRUE(Error(ErrorCode::kPeerLost, "").is_recoverable());
  EXPECT_TRUE(Error(ErrorCode::kDiskFull, "").is_recoverable());
  EXPECT_FALSE(Error(ErrorCode::kUsage, "").is_recoverable());
  EXPECT_FALSE(Error(ErrorCode::kBug, "").is_recoverable());
  EXPECT_FALSE(Error(ErrorCode::kCorrupt, "").is_recoverable());
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(3).error().text(), "the number is odd. Give an even number.");
  EXPECT_EQ(quarter(2).error().code(), ErrorCode::kUsage);
}

TEST(Result, WithinTouchesOnlyErrors) {
  EXPECT_EQ(*half(4).within("never seen"), 2);
  EXPECT_EQ(half(5).within("cannot halve").error().message(), "cannot halve");
}

TEST(ValueOrThrow, ThrowsTheClassOfTheCode) {
  EXPECT_EQ(value_or_throw(half(4)), 2);
  EXPECT_THROW(value_or_throw(half(5)), UsageError);
  EXPECT_THROW(value_or_throw(Status(Error(ErrorCode::kBug, "b"))), BugError);
  try {
    value_or_throw(Status(Error(ErrorCode::kPeerLost, "gone").within("outer")));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
    EXPECT_EQ(error.text(), "outer: gone");
  }
}

}  // namespace
}  // namespace cohort
