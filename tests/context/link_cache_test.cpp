#include "world/link_cache.h"

#include "storage/faulty_file_system.h"
#include "storage/memory_file_system.h"
#include "storage/whole_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using comm::LinkFigures;
using world::LinkCache;
using world::LinkName;

constexpr LinkFigures kFigures{.latency_s = 1e-4, .byte_s = 4e-8};
const LinkName kName{.first = 7, .second = 9, .way = "tcp-tls"};

void write(FileSystem& files, const std::string& text) {
  ASSERT_TRUE(files.make_directories("/cache"));
  ASSERT_TRUE(write_file_atomically(files, "/cache/" + kName.text(), std::as_bytes(std::span(text))));
}

std::int64_t seconds_ago(std::chrono::seconds ago) {
  const auto then = std::chrono::system_clock::now() - ago;
  return std::chrono::duration_cast<std::chrono::seconds>(then.time_since_epoch()).count();
}

TEST(LinkCache, RemembersForBothHostsAndOneWay) {
  MemoryFileSystem files;
  LinkCache(files, "/cache").keep(kName, kFigures);
  EXPECT_EQ(LinkCache(files, "/cache").find(kName), kFigures);
  EXPECT_EQ(LinkCache(files, "/cache").find({.first = 9, .second = 7, .way = "tcp-tls"}), kFigures);
  EXPECT_EQ(LinkCache(files, "/cache").find({.first = 7, .second = 9, .way = "tcp-clear"}), std::nullopt);
  EXPECT_EQ(LinkCache(files, "/cache").find({.first = 7, .second = 8, .way = "tcp-tls"}), std::nullopt);
}

TEST(LinkCache, TheNewestCountsAndOthersStay) {
  MemoryFileSystem files;
  LinkCache cache(files, "/cache");
  const LinkName other{.first = 1, .second = 2, .way = "ucx"};
  cache.keep(kName, {.latency_s = 1, .byte_s = 1});
  cache.keep(other, kFigures);
  cache.keep(kName, kFigures);
  EXPECT_EQ(cache.find(kName), kFigures);
  EXPECT_EQ(cache.find(other), kFigures);
}

TEST(LinkCache, ForgetsAfterItsTime) {
  MemoryFileSystem files;
  const LinkCache cache(files, "/cache");
  const auto line = [](std::chrono::seconds ago) {
    return fmt::format("0.0001 4e-08 {}\n", seconds_ago(ago));
  };
  write(files, line(std::chrono::hours(23)));
  EXPECT_EQ(cache.find(kName), kFigures);
  write(files, line(std::chrono::hours(25)));
  EXPECT_EQ(cache.find(kName), std::nullopt);
  write(files, line(std::chrono::hours(-1)));  // from the future: a clock was wrong
  EXPECT_EQ(cache.find(kName), std::nullopt);
}

TEST(LinkCache, WhatMakesNoSenseIsNotKnown) {
  MemoryFileSystem files;
  LinkCache cache(files, "/cache");
  for (const char* figures : {"", "x y", "0 4e-8", "1e-4 -1", "inf 4e-8", "nan nan", "1e-4"}) {
    write(files, fmt::format("{} {}\n\x01\xff\n", figures, seconds_ago({})));
    EXPECT_EQ(cache.find(kName), std::nullopt) << figures;
  }
  for (const char* time : {"-1", "-9223372036854775808", "99999999999999999999", ""}) {
    write(files, fmt::format("0.0001 4e-08 {}\n", time));
    EXPECT_EQ(cache.find(kName), std::nullopt) << time;
  }
  cache.keep(kName, kFigures);
  EXPECT_EQ(cache.find(kName), kFigures) << "the corrupt file is replaced";
}

TEST(LinkCache, WithoutAPlaceNothingIsRemembered) {
  MemoryFileSystem files;
  LinkCache cache(files, "");
  cache.keep(kName, kFigures);
  EXPECT_EQ(cache.find(kName), std::nullopt);
}

TEST(LinkCache, ADiskThatFailsIsNoFailure) {
  int num_found = 0;
  for (std::uint64_t call = 1; call <= 12; ++call) {
    MemoryFileSystem disk;
    FaultyFileSystem files(disk, {.fail_call = call});
    LinkCache cache(files, "/cache");
    cache.keep(kName, kFigures);
    const auto found = cache.find(kName);
    EXPECT_TRUE(!found || *found == kFigures) << call;
    num_found += found ? 1 : 0;
  }
  EXPECT_GT(num_found, 0) << "a call that is never made cannot fail";
  EXPECT_LT(num_found, 12) << "no fault was met";
}

}  // namespace
}  // namespace cohort::test
