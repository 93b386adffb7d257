#include "base/clock.h"
#include "base/log_sink.h"

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

TEST(LogRecord, FurtherLinesStandBelowTheFirst) {
  EXPECT_EQ(format_text({.time = kNoon, .rank = 1, .text = "a\nb"}),
            "[1] 12:00:00.123 info    a\n                         b");
}

TEST(LogRecord, JsonLinesParseWhateverTheText) {
  const auto object = nlohmann::json::parse(format_json({.level = LogLevel::kError,
                                                         .time = kNoon,
                                                         .rank = 0,
                                                         .text = "a \"quoted\"\nline and a bad byte \xff"}));
  EXPECT_EQ(object["rank"], 0);
  EXPECT_EQ(object["time"], "2026-01-31T12:00:00.123Z");
  EXPECT_EQ(object["level"], "error");
  EXPECT_EQ(object["text"], "a \"quoted\"\nline and a bad byte \ufffd");
}

TEST(DescriptorSink, LinesOfSeveralThreadsDoNotMix) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  DescriptorSink sink(ends[1], LogFormat::kText);
  {
    std::vector<std::jthread> writers;
    for (int rank = 0; rank < 4; ++rank) {
      writers.emplace_back([&, rank] {
        for (int i = 0; i < 50; ++i)
          sink.write({.rank = rank, .text = std::string(40, static_cast<char>('a' + rank))});
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
