#include "base/log.h"

#include "base/log_sink.h"
#include "base/manual_clock.h"
#include "base/memory_sink.h"

#include <array>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace cohort {
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

TEST(Log, FurtherLinesStandBelowTheFirst) {
  EXPECT_EQ(format_text({.time = kNoon, .rank = 1, .text = "a\nb"}),
            "[1] 12:00:00.123 info    a\n                         b");
}

TEST(Log, JsonLinesParseWhateverTheText) {
  MemorySink sink(LogFormat::kJson);
  const ManualClock clock({}, kNoon);
  Log(sink, clock, {.rank = 0}).error("a \"quoted\"\nline and a bad byte \xff");
  const auto object = nlohmann::json::parse(sink.lines().at(0));
  EXPECT_EQ(object["rank"], 0);
  EXPECT_EQ(object["time"], "2026-01-31T12:00:00.123Z");
  EXPECT_EQ(object["level"], "error");
  EXPECT_EQ(object["text"], "a \"quoted\"\nline and a bad byte \ufffd");
}

TEST(DescriptorSink, LinesOfSeveralThreadsDoNotMix) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  DescriptorSink sink(ends[1], LogFormat::kText);
  const RealClock clock;
  {
    std::vector<std::jthread> writers;
    for (int rank = 0; rank < 4; ++rank) {
      writers.emplace_back([&, rank] {
        for (int i = 0; i < 50; ++i)
          Log(sink, clock, {.rank = rank}).info("{}", std::string(40, static_cast<char>('a' + rank)));
      });
    }
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; (count = ::read(ends[0], piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(count));
  ::close(ends[0]);
  std::istringstream lines(text);
  int seen = 0;
  for (std::string line; std::getline(lines, line); ++seen) {
    ASSERT_GE(line.size(), 40u);
    const std::string tail = line.substr(line.size() - 40);
    EXPECT_EQ(tail, std::string(40, static_cast<char>('a' + (line[1] - '0')))) << line;
  }
  EXPECT_EQ(seen, 200);
}

}  // namespace
}  // namespace cohort
