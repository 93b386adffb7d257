#include "machine/survey_parts.h"

#include "machine/given_files.h"
#include "machine/survey_shared_memory.h"

#include <gtest/gtest.h>

namespace cohort::machine {
namespace {

constexpr const char* kMeminfo = R"(MemTotal:       16384 kB
MemFree:         1024 kB
MemAvailable:    8192 kB
SwapCached:         0 kB
SwapTotal:       2048 kB
SwapFree:        2047 kB
HugePages_Total:       0
)";

TEST(Meminfo, LinesAreInKibibytes) {
  EXPECT_EQ(*parse_memory_line(kMeminfo, "MemTotal"), 16384u * 1024);
  EXPECT_EQ(*parse_memory_line(kMeminfo, "SwapFree"), 2047u * 1024);
}

TEST(Meminfo, GarbageIsRefused) {
  EXPECT_EQ(parse_memory_line(kMeminfo, "Mem").error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(parse_memory_line(kMeminfo, "HugePages_Total").error().code(), ErrorCode::kCorrupt);
  EXPECT_FALSE(parse_memory_line("", "MemTotal"));
  EXPECT_FALSE(parse_memory_line("MemTotal: lots kB\n", "MemTotal"));
  EXPECT_FALSE(parse_memory_line("MemTotal: 18446744073709551615 kB\n", "MemTotal"));
}

TEST(SurveyMemory, ReadsEveryLine) {
  const Memory memory = survey_memory(given_files({{"/proc/meminfo", kMeminfo}}));
  EXPECT_EQ(*memory.total_bytes, 16384u * 1024);
  EXPECT_EQ(*memory.available_bytes, 8192u * 1024);
  EXPECT_EQ(*memory.swap_total_bytes, 2048u * 1024);
  EXPECT_EQ(*memory.swap_free_bytes, 2047u * 1024);
  EXPECT_EQ(*memory.limit_bytes, std::nullopt);
  EXPECT_FALSE(survey_memory(given_files({})).total_bytes);
}

TEST(UsableMemory, IsWhatIsAvailableWithinTheLimit) {
  Memory memory;
  EXPECT_EQ(usable_bytes(memory), std::nullopt);
  memory.total_bytes = std::uint64_t{1000};
  EXPECT_EQ(usable_bytes(memory), 1000u);
  memory.available_bytes = std::uint64_t{800};
  EXPECT_EQ(usable_bytes(memory), 800u);
  memory.limit_bytes = std::optional<std::uint64_t>();
  EXPECT_EQ(usable_bytes(memory), 800u);
  memory.limit_bytes = std::optional<std::uint64_t>(500);
  EXPECT_EQ(usable_bytes(memory), 500u);
}

TEST(SharedMemory, ModesAreReadFromTheirFiles) {
  EXPECT_EQ(*parse_overcommit("2\n"), Overcommit::kNever);
  EXPECT_FALSE(parse_overcommit("3\n"));
  EXPECT_FALSE(parse_overcommit("never"));
  EXPECT_EQ(*parse_chosen_word("always [madvise] never\n"), "madvise");
  EXPECT_EQ(*parse_chosen_word("always madvise [never]\n"), "never");
  for (const char* text : {"", "always madvise never", "[]", "[always"})
    EXPECT_FALSE(parse_chosen_word(text)) << text;
}

TEST(SharedMemory, IsSurveyedPartByPart) {
  const MeasureSpace measure = [](const std::string& path) -> Result<Space> {
    if (path != "/dev/shm") return Error(ErrorCode::kNotFound, "not asked for");
    return Space{.total_bytes = 64, .free_bytes = 3};
  };
  const SharedMemory memory =
      survey_shared_memory(given_files({{"/proc/sys/vm/overcommit_memory", "1\n"}}), measure);
  EXPECT_EQ(memory.dev_shm->free_bytes, 3u);
  EXPECT_EQ(*memory.overcommit, Overcommit::kAlways);
  EXPECT_EQ(memory.huge_pages.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace cohort::machine
