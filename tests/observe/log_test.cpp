#include "observe/log.h"

#include "base/manual_clock.h"
#include "base/memory_sink.h"

#include <gtest/gtest.h>

namespace cohort::observe {
namespace {

using namespace std::chrono_literals;

const WallTime kNoon =
    WallTime(std::chrono::sys_days{std::chrono::January / 31 / 2026}.time_since_epoch()) + 12h + 123ms;

TEST(Log, PutsTheRankInFront) {
  MemorySink sink;
  const ManualClock clock({}, kNoon);
  const Log log(sink, clock, {.rank = 3});
  log.info("joined {} peers", 4);
  EXPECT_EQ(sink.lines(), std::vector<std::string>{"[3] 12:00:00.123 info    joined 4 peers"});
}

TEST(Log, HasNoRankBeforeThereIsOne) {
  MemorySink sink;
  const ManualClock clock({}, kNoon);
  Log(sink, clock, {}).warning("slow disk");
  EXPECT_EQ(sink.lines(), std::vector<std::string>{"12:00:00.123 warning slow disk"});
}

TEST(Log, LeavesOutWhatIsBelowItsLevel) {
  MemorySink sink;
  const ManualClock clock;
  const Log log(sink, clock, {.level = LogLevel::kWarning});
  log.trace("1");
  log.debug("2");
  log.info("3");
  log.warning("4");
  log.error("5");
  EXPECT_EQ(sink.lines().size(), 2u);
}

}  // namespace
}  // namespace cohort::observe
