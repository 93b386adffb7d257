#include "checkpoint/course_pieces.h"

#include "state/memory_source.h"

#include <gtest/gtest.h>

namespace cohort::checkpoint {
namespace {

Course course_at(std::int64_t step) {
  return {.position = {.step = step,
                       .epoch = 2,
                       .step_in_epoch = 3,
                       .samples = 99,
                       .best_loss = 0.5,
                       .plateau = {.best = 0.25, .num_bad = 2, .cooldown_left = 3, .reductions = 4},
                       .epoch_loss = 7,
                       .epoch_weight = 8},
          .ledger = {.samples = 101, .batch_size = 16, .micro_batches = 4},
          .settings = {{"seed", "7"}, {"shuffle", "true"}},
          .bucket_order = {2, 0, 1}};
}

Course read_back(const Course& course) {
  CoursePieces pieces(course);
  test::MemorySource source({pieces.pieces()});
  return value_or_throw(CoursePieces::read(source));
}

TEST(CoursePieces, HaveAllOfACourse) {
  Course course = course_at(41);
  course.loss = 0.25;
  course.best = {.epoch = 1, .step = 20, .loss = 0.125, .accuracy = 0.75};
  const Course found = read_back(course);
  EXPECT_EQ(found.position.step, 41);
  EXPECT_EQ(found.position.samples, 99);
  EXPECT_EQ(found.position.best_loss, 0.5);
  EXPECT_EQ(found.position.plateau,
            (PlateauState{.best = 0.25, .num_bad = 2, .cooldown_left = 3, .reductions = 4}));
  EXPECT_EQ(found.position.epoch_loss, 7);
  EXPECT_EQ(found.position.epoch_weight, 8);
  EXPECT_EQ(found.ledger, course.ledger);
  EXPECT_EQ(found.settings, course.settings);
  EXPECT_EQ(found.bucket_order, course.bucket_order);
  EXPECT_EQ(found.loss, 0.25);
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.best->epoch, 1);
  EXPECT_EQ(found.best->step, 20);
  EXPECT_EQ(found.best->loss, 0.125);
  EXPECT_EQ(found.best->accuracy, 0.75);
}

TEST(CoursePieces, MayLackEvaluationsSettingsAndBuckets) {
  const Course nothing = read_back({});
  EXPECT_FALSE(nothing.loss);
  EXPECT_FALSE(nothing.best);
  EXPECT_TRUE(nothing.settings.empty());
  EXPECT_TRUE(nothing.bucket_order.empty());
  Course course = course_at(1);
  course.best = BestEvaluation{.loss = 0.5};
  EXPECT_FALSE(read_back(course).best->accuracy);
}

// Copies of one layout are kept without agreeing on it again.
TEST(CoursePieces, HaveTheSameShapesInEveryStep) {
  Course later = course_at(1'000'000);
  later.loss = 0.25;
  later.best = BestEvaluation{.epoch = 7};
  CoursePieces first(course_at(1)), second(later);
  const auto a = first.pieces(), b = second.pieces();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].shape, b[i].shape) << a[i].name;
}

TEST(CoursePieces, NameADamagedSetting) {
  Course course = course_at(1);
  course.settings = {{"", "\nx"}};
  CoursePieces pieces(course);
  test::MemorySource source({pieces.pieces()});
  const auto found = CoursePieces::read(source);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(found.error().text().find("expected lines name=value"), std::string::npos);
}

}  // namespace
}  // namespace cohort::checkpoint
