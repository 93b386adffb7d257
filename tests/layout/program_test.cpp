#include "layout/program.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

std::vector<std::string> texts(const Program& program) {
  std::vector<std::string> all;
  for (const Action& action : program) all.push_back(action.text());
  return all;
}

TEST(Program, UpdatesEachBucketWhenItIsReduced) {
  EXPECT_EQ(texts(data_parallel_program({4, 5}, 2, UpdateTime::kWhenReduced, Copies::kPerRank)),
            (std::vector<std::string>{"load slot 4", "forward slot 4", "backward slot 4", "load slot 5",
                                      "forward slot 5", "backward slot 5", "fill bucket 0", "apply bucket 0",
                                      "gather bucket 0", "fill bucket 1", "apply bucket 1", "gather bucket 1",
                                      "vote"}));
}

TEST(Program, UpdatesAfterTheVoteIfTheStepMayBeSkipped) {
  EXPECT_EQ(
      texts(data_parallel_program({0}, 2, UpdateTime::kAfterVote, Copies::kPerRank)),
      (std::vector<std::string>{"load slot 0", "forward slot 0", "backward slot 0", "fill bucket 0",
                                "reduce bucket 0", "fill bucket 1", "reduce bucket 1", "vote",
                                "update bucket 0", "gather bucket 0", "update bucket 1", "gather bucket 1"}));
}

TEST(Program, GathersNothingIfThereIsOneCopy) {
  EXPECT_EQ(texts(data_parallel_program({0}, 2, UpdateTime::kWhenReduced, Copies::kOne)),
            (std::vector<std::string>{"load slot 0", "forward slot 0", "backward slot 0", "fill bucket 0",
                                      "apply bucket 0", "fill bucket 1", "apply bucket 1", "vote"}));
  EXPECT_EQ(texts(data_parallel_program({0}, 2, UpdateTime::kAfterVote, Copies::kOne)),
            (std::vector<std::string>{"load slot 0", "forward slot 0", "backward slot 0", "fill bucket 0",
                                      "reduce bucket 0", "fill bucket 1", "reduce bucket 1", "vote",
                                      "update bucket 0", "update bucket 1", "meet"}));
}

// Actions that need a result of the other lane name it in `after`.
TEST(Program, WaitsForActionsOfTheOtherLane) {
  for (const UpdateTime time : {UpdateTime::kWhenReduced, UpdateTime::kAfterVote}) {
    const Program program = data_parallel_program({0}, 3, time, Copies::kPerRank);
    for (const Action& action : program) {
      if (action.kind == ActionKind::kReduce || action.kind == ActionKind::kApply) {
        ASSERT_EQ(action.after.size(), 1u);
        EXPECT_EQ(program[action.after[0]].text(), "fill bucket " + std::to_string(action.bucket));
      }
      if (action.kind == ActionKind::kVote) {
        ASSERT_EQ(action.after.size(), 1u);
        EXPECT_EQ(program[action.after[0]].text(),
                  time == UpdateTime::kAfterVote ? "reduce bucket 2" : "gather bucket 2");
      }
      if (action.kind == ActionKind::kUpdate && time == UpdateTime::kAfterVote) {
        ASSERT_EQ(action.after.size(), 1u);
        EXPECT_EQ(program[action.after[0]].kind, ActionKind::kVote);
      }
    }
  }
}

}  // namespace
}  // namespace cohort
