#include "observe/step_log.h"

#include "base/manual_clock.h"
#include "storage/memory_file_system.h"
#include "storage/whole_file.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace cohort::observe {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPath = "runs/job/steps.jsonl";

std::string content(FileSystem& files) {
  return read_file(files, kPath).value();
}

std::size_t lines(FileSystem& files) {
  const std::string text = content(files);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(StepReport, IsALineOfJson) {
  EXPECT_EQ(json_line({.step = 3,
                       .epoch = 1,
                       .loss = 0.5,
                       .learning_rate = 0.25,
                       .samples = 64,
                       .seconds = 1.5,
                       .communication_seconds = 0.125,
                       .stall_seconds = 0}),
            "{\"step\":3,\"epoch\":1,\"loss\":0.5,\"learning_rate\":0.25,\"samples\":64,\"seconds\":1.5,"
            "\"communication_seconds\":0.125,\"stall_seconds\":0.0,\"skipped\":false}\n");
  const std::string skipped = json_line({.loss = std::nan(""), .gradient_norm = 2, .skipped = true});
  EXPECT_NE(skipped.find("\"loss\":null"), std::string::npos);
  EXPECT_NE(skipped.find("\"gradient_norm\":2.0,\"skipped\":true"), std::string::npos);
  const std::string scaled = json_line({.loss_scale = 1024, .f32_stages = {0, 2}});
  EXPECT_NE(scaled.find("\"skipped\":false,\"loss_scale\":1024.0,\"f32_stages\":[0,2]}"), std::string::npos);
}

TEST(StepLog, IsWrittenEverySecondAndAtTheEnd) {
  MemoryFileSystem files;
  ManualClock clock;
  auto log = StepLog::open(files, clock, kPath);
  ASSERT_TRUE(log) << log.error().text();
  ASSERT_TRUE(log->add({.step = 1}));
  clock.advance(999ms);
  ASSERT_TRUE(log->add({.step = 2}));
  EXPECT_EQ(lines(files), 0u);
  clock.advance(1ms);
  ASSERT_TRUE(log->add({.step = 3}));
  EXPECT_EQ(lines(files), 3u);
  ASSERT_TRUE(log->add({.step = 4}));
  EXPECT_EQ(lines(files), 3u);
  ASSERT_TRUE(log->flush());
  EXPECT_EQ(lines(files), 4u);
  ASSERT_TRUE(log->add({.step = 5}));
  ASSERT_TRUE(log->close());
  EXPECT_EQ(lines(files), 5u);
  EXPECT_EQ(content(files).substr(0, 10), "{\"step\":1,");
}

TEST(StepLog, IsOnDiskWhenClosed) {
  MemoryFileSystem files;
  ManualClock clock;
  auto log = StepLog::open(files, clock, kPath);
  ASSERT_TRUE(log);
  ASSERT_TRUE(files.sync_directory("runs/job"));
  ASSERT_TRUE(files.sync_directory("runs"));
  ASSERT_TRUE(files.sync_directory("."));
  ASSERT_TRUE(log->add({.step = 1}));
  ASSERT_TRUE(log->close());
  files.lose_unsynced();
  EXPECT_EQ(lines(files), 1u);
}

TEST(StepLog, MuchIsNotGatheredForLong) {
  MemoryFileSystem files;
  ManualClock clock;
  auto log = StepLog::open(files, clock, kPath);
  ASSERT_TRUE(log);
  for (int step = 1; step <= 10000; ++step) ASSERT_TRUE(log->add({.step = step}));
  EXPECT_GT(lines(files), 0u);
}

TEST(StepLog, AFullDiskIsToldOnceAndNamesTheFile) {
  MemoryFileSystem files(100);
  ManualClock clock;
  auto log = StepLog::open(files, clock, kPath);
  ASSERT_TRUE(log);
  ASSERT_TRUE(log->add({.step = 1}));
  const Status full = log->flush();
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), ErrorCode::kDiskFull);
  EXPECT_NE(full.error().text().find(kPath), std::string::npos);
  EXPECT_NE(full.error().remedy(), "");
  EXPECT_TRUE(log->add({.step = 2}));
  clock.advance(5s);
  EXPECT_TRUE(log->add({.step = 3}));
  EXPECT_TRUE(log->close());
}

TEST(StepLog, AFolderThatCannotBeMadeIsAnErrorWithThePath) {
  MemoryFileSystem files;
  ManualClock clock;
  ASSERT_TRUE(files.create("runs"));
  const auto log = StepLog::open(files, clock, kPath);
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().text().find(kPath), std::string::npos);
}

TEST(StepLog, AnEarlierRunIsReplaced) {
  MemoryFileSystem files;
  ManualClock clock;
  for (int run = 0; run < 2; ++run) {
    auto log = StepLog::open(files, clock, kPath);
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->add({.step = 1}));
    ASSERT_TRUE(log->close());
  }
  EXPECT_EQ(lines(files), 1u);
}

}  // namespace
}  // namespace cohort::observe
