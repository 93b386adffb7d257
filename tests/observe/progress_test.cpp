#include "observe/progress.h"

#include "base/manual_clock.h"

#include <gtest/gtest.h>

namespace cohort::observe {
namespace {

using namespace std::chrono_literals;

// A run on a simulated clock, and its output.
class FakeRun {
 public:
  explicit FakeRun(std::optional<int> columns = std::nullopt)
      : progress(clock, [this](std::string_view text) { written += text; },
                 {.steps = 2000, .epochs = 10, .terminal_columns = columns}) {}

  // The next step, `after` later than the previous one.
  void step(std::chrono::nanoseconds after) {
    clock.advance(after);
    ++number;
    progress.step({.step = number,
                   .epoch = 2,
                   .loss = 0.125,
                   .samples = 64,
                   .seconds = 0.25,
                   .communication_seconds = 0.0078125,
                   .stall_seconds = 0});
  }
  std::string take() { return std::exchange(written, {}); }

  ManualClock clock;
  std::string written;
  Progress progress;
  std::int64_t number = 339;
};

const std::string kLine =
    "epoch 2/10  step 340/2000  loss 0.125  256 samples/s  comm 3 %  data 0 %  left 6m55s";

TEST(Progress, OnATerminalOneLineIsWrittenOver) {
  FakeRun run(100);
  run.step(0ms);
  EXPECT_EQ(run.take(), "\r" + kLine + "\033[K");
  run.step(99ms);
  EXPECT_EQ(run.take(), "") << "at most ten times a second";
  run.step(1ms);
  EXPECT_EQ(run.take().substr(0, 26), "\repoch 2/10  step 342/2000");
  run.progress.close();
  EXPECT_EQ(run.take(), "\n");
  run.progress.close();
  EXPECT_EQ(run.take(), "") << "no line is open any more";
}

TEST(Progress, ShowsScaleSkippedStepsAndStagesInF32) {
  FakeRun run(150);
  run.progress.step({.step = 1, .epoch = 1, .skipped = true, .loss_scale = 1024});
  EXPECT_NE(run.take().find("  scale 1024  skipped 1\033"), std::string::npos);
  run.clock.advance(1s);
  run.progress.step({.step = 2, .epoch = 1, .loss_scale = 512, .f32_stages = {0, 2}});
  EXPECT_NE(run.take().find("  scale 512  skipped 1  f32 0,2\033"), std::string::npos);
}

TEST(Progress, WhatDoesNotFitIsLeftOut) {
  const auto line_on = [](int columns) {
    FakeRun run(columns);
    run.step(0ms);
    const std::string text = run.take();
    return text.substr(1, text.size() - 1 - std::string_view("\033[K").size());
  };
  const auto size = static_cast<int>(kLine.size());
  EXPECT_EQ(line_on(size + 1), kLine);
  EXPECT_EQ(line_on(size), kLine.substr(0, kLine.find("  left")));
  EXPECT_EQ(line_on(30), "epoch 2/10  step 340/2000");
  EXPECT_EQ(line_on(11), "epoch 2/10");
  EXPECT_EQ(line_on(10), "");
  EXPECT_EQ(line_on(1), "");
}

TEST(Progress, ElsewhereALineEveryFewSeconds) {
  FakeRun run;
  run.step(0ms);
  run.step(4999ms);
  EXPECT_EQ(run.take(), "") << "a short run has no lines but its epochs'";
  run.step(1ms);
  const std::string text = run.take();
  EXPECT_EQ(text.substr(0, 25), "epoch 2/10  step 342/2000");
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(text.find_first_of("\r\033"), std::string::npos);
  run.step(4999ms);
  EXPECT_EQ(run.take(), "");
  run.progress.close();
  EXPECT_EQ(run.take(), "");
}

TEST(Progress, AnEpochLeavesALine) {
  const std::string line =
      "epoch 2/10  step 340/2000  loss 0.25  test loss 0.5  accuracy 0.975  256 samples/s\n";
  const EpochRecord epoch{.epoch = 2, .loss = 0.25, .metrics = {{"test loss", 0.5}, {"accuracy", 0.975}}};
  FakeRun plain;
  plain.step(0ms);
  plain.progress.epoch_end(epoch);
  EXPECT_EQ(plain.take(), line);
  plain.step(4999ms);
  EXPECT_EQ(plain.take(), "") << "the epoch's line was one too";

  FakeRun terminal(100);
  terminal.step(0ms);
  terminal.take();
  terminal.progress.epoch_end(epoch);
  EXPECT_EQ(terminal.take(), "\r\033[K" + line);
  terminal.progress.close();
  EXPECT_EQ(terminal.take(), "");
}

TEST(Progress, WordsStandAboveTheLine) {
  FakeRun run(100);
  run.progress.say("reading");
  EXPECT_EQ(run.take(), "reading\n");
  run.step(0ms);
  run.take();
  run.progress.say("the loss is not finite");
  EXPECT_EQ(run.take(), "\r\033[Kthe loss is not finite\n");
}

TEST(Progress, TheEndIsNear) {
  FakeRun run(100);
  run.number = 1999;
  run.step(0ms);
  EXPECT_NE(run.take().find("step 2000/2000"), std::string::npos);
  run.step(1s);
  EXPECT_NE(run.take().find("left -"), std::string::npos) << "more steps than were planned";
}

}  // namespace
}  // namespace cohort::observe
