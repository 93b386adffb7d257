#include "config/load.h"

#include "config/keys.h"

#include <gtest/gtest.h>

namespace cohort::config {
namespace {

using namespace std::chrono_literals;

const std::vector<Key> kKeys = make_keys();

Result<Loaded> load_text(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return load(kKeys, {.text = text, .file_name = "job.toml", .overrides = overrides});
}

std::string mistake(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto loaded = load_text(text, overrides);
  if (loaded) return "accepted";
  EXPECT_EQ(loaded.error().code(), ErrorCode::kUsage);
  return loaded.error().text();
}

TEST(Load, NothingGivesTheDefaults) {
  const auto loaded = load_text("");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config.launch.ranks, 1);
  EXPECT_EQ(loaded->config.launch.threads_per_rank, std::nullopt);
  EXPECT_EQ(loaded->config.launch.memory_per_rank, 1ull << 30);
  EXPECT_EQ(loaded->config.doctor.probe_limit, 30s);
  EXPECT_EQ(loaded->config.log.level, LogLevel::kWarning);
  EXPECT_TRUE(loaded->places.empty());
}

TEST(Load, EveryKindOfValueIsTyped) {
  const auto loaded = load_text(R"(
[log]
level = "debug"
format = "json"
[launch]
ranks = 8
threads_per_rank = 2
memory_per_rank = "1.5 GiB"
shared_memory_per_rank = 4096
interfaces = ["eth0", "lo"]
[doctor]
probe_libtorch = false
probe_limit = "250ms"
memory_headroom = 0
)");
  ASSERT_TRUE(loaded) << loaded.error().text();
  const Config& config = loaded->config;
  EXPECT_EQ(config.log.level, LogLevel::kDebug);
  EXPECT_EQ(config.log.format, LogFormat::kJson);
  EXPECT_EQ(config.launch.ranks, 8);
  EXPECT_EQ(config.launch.threads_per_rank, 2);
  EXPECT_EQ(config.launch.memory_per_rank, 3ull << 29);
  EXPECT_EQ(config.launch.shared_memory_per_rank, 4096u);
  EXPECT_EQ(config.launch.interfaces, (std::vector<std::string>{"eth0", "lo"}));
  EXPECT_FALSE(config.doctor.probe_libtorch);
  EXPECT_EQ(config.doctor.probe_limit, 250ms);
  EXPECT_EQ(config.doctor.memory_headroom, 0.0);
  EXPECT_EQ(loaded->places.at("launch.ranks"), "job.toml:6");
}

TEST(Load, OverridesWinAndTheLastOfThemMost) {
  const auto loaded =
      load_text("[launch]\nranks = 2", {"launch.ranks=3", "launch.ranks=4", "log.level=debug",
                                        "launch.memory_per_rank=2GiB", "launch.interfaces=[\"lo\"]"});
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->config.launch.ranks, 4);
  EXPECT_EQ(loaded->config.log.level, LogLevel::kDebug);
  EXPECT_EQ(loaded->config.launch.memory_per_rank, 2ull << 30);
  EXPECT_EQ(loaded->config.launch.interfaces, std::vector<std::string>{"lo"});
  EXPECT_EQ(loaded->places.at("launch.ranks"), "--set launch.ranks=4");
}

TEST(Load, RangesIncludeTheirEnds) {
  EXPECT_TRUE(load_text("[launch]\nranks = 1"));
  EXPECT_TRUE(load_text("[launch]\nranks = 65536"));
  EXPECT_EQ(mistake("[launch]\nranks = 65537"),
            "job.toml:2: launch.ranks = 65537 is out of range; allowed: a whole number from 1 to 65536");
  EXPECT_TRUE(load_text("[doctor]\nmemory_headroom = 0.9"));
  EXPECT_FALSE(load_text("[doctor]\nmemory_headroom = 0.91"));
}

TEST(Load, EveryMistakeIsListedInTheOrderOfTheFile) {
  EXPECT_EQ(
      mistake("[log]\nlevel = \"loud\"\n[launch]\nranks = 0\nrank = 1"),
      "3 mistakes:\n"
      "  job.toml:2: log.level = \"loud\" is not known; allowed: one of trace, debug, info, warning, error\n"
      "  job.toml:4: launch.ranks = 0 is out of range; allowed: a whole number from 1 to 65536\n"
      "  job.toml:5: there is no key 'launch.rank'; did you mean 'launch.ranks'?");
}

TEST(Load, AnEmptySectionSaysNothing) {
  EXPECT_TRUE(load_text("[launch]\n"));
}

TEST(Load, MistakesInOverridesNameTheOverride) {
  EXPECT_EQ(
      mistake("", {"launch.ranks=0"}),
      "--set launch.ranks=0: launch.ranks = 0 is out of range; allowed: a whole number from 1 to 65536");
  EXPECT_EQ(mistake("", {"launch.ranks"}),
            "--set launch.ranks: a key and a value are wanted. Write --set launch.ranks=4.");
}

// Whatever the bytes, the answer is a config or a kUsage error, never an exception or a crash.
TEST(Load, SurvivesATextCutOrChangedAnywhere) {
  const std::string text =
      "[launch]\nranks = 2\nmemory_per_rank = \"1 GiB\"\ninterfaces = [\"lo\", \"eth0\"]\n[log]\nlevel = "
      "'info'\n";
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    mistake(text.substr(0, cut));
    for (const char c : {'\0', '"', '[', '=', '\n', '\xff', '{', '.'}) {
      std::string changed = text;
      changed[cut] = c;
      mistake(changed);
    }
  }
}

}  // namespace
}  // namespace cohort::config
