#include "config/load.h"

#include "all_keys.h"

#include <gtest/gtest.h>

namespace cohort::config {
namespace {

using namespace std::chrono_literals;

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
  EXPECT_TRUE(loaded->locations.empty());
}

TEST(Load, LinkSettingsThatEqualTheDefaultAreSet) {
  EXPECT_EQ(links_of(*load_text(""), {}), LinkSettings{});
  const LinkSettings set = links_of(*load_text(R"(
[communication]
backend = "auto"
wire = "same"
)",
                                               {"communication.explain=false"}),
                                    {.wire = WireDType::kFloat16});
  EXPECT_EQ(set, (LinkSettings{.backend = Backend::kAuto, .wire = WireDType::kSame, .explain = false}));
}

TEST(Load, LinkSettingsOfTheJobWinAndAutoIsOneOfThem) {
  const LinkSettings around{.algorithm = CollectiveAlgorithm::kRing,
                            .chunk_bytes = 65536,
                            .wire = WireDType::kFloat16,
                            .sockets = 2};
  EXPECT_EQ(links_of(*load_text(""), around), around);
  const char* chosen = R"(
[communication]
algorithm = "auto"
chunk = "auto"
sockets = "auto"
)";
  EXPECT_EQ(links_of(*load_text(chosen), around), (LinkSettings{.wire = WireDType::kFloat16}));
  const auto forced = load_text("", {"communication.algorithm=hierarchical", "communication.chunk=1MiB",
                                     "communication.wire=bf16", "communication.sockets=8"});
  ASSERT_TRUE(forced) << forced.error().text();
  EXPECT_EQ(links_of(*forced, around), (LinkSettings{.algorithm = CollectiveAlgorithm::kHierarchical,
                                                     .chunk_bytes = 1 << 20,
                                                     .wire = WireDType::kBFloat16,
                                                     .sockets = 8}));
}

TEST(Load, ZeroIsRefusedAndAutoIsNamed) {
  EXPECT_EQ(
      mistake("", {"communication.chunk=0"}),
      "--set communication.chunk=0: communication.chunk = 0 is out of range; allowed: \"auto\", or a size "
      "from 4 KiB to 1 TiB");
  EXPECT_EQ(
      mistake("[communication]\nsockets = 0\n"),
      "job.toml:2: communication.sockets = 0 is out of range; allowed: \"auto\", or a whole number from 1 "
      "to 8");
  EXPECT_NE(mistake("[communication]\nalgorithm = \"\"\n").find("write algorithm = \"auto\""),
            std::string::npos);
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
  EXPECT_EQ(loaded->locations.at("launch.ranks"), "job.toml:6");
}

TEST(Load, TheSectionsOfATrainingAreTyped) {
  const auto loaded = load_text(R"(
[data]
kind = "csv"
path = "a \"b\".csv"
test_share = 0
[model]
kind = "mlp"
hidden = [32, 7]
[optimizer]
name = "adamw"
betas = [0.5, 0]
groups = ["*.bias: weight_decay=0"]
[train]
steps = 10
seed = 9223372036854775807
bucket_bytes = "64 KiB"
directory = "out"
)");
  ASSERT_TRUE(loaded) << loaded.error().text();
  const Config& config = loaded->config;
  EXPECT_EQ(config.data.kind, "csv");
  EXPECT_EQ(config.data.path, "a \"b\".csv");
  EXPECT_EQ(config.data.test_share, 0.0);
  EXPECT_EQ(config.model.hidden, (std::vector<int>{32, 7}));
  EXPECT_EQ(config.optimizer.name, "adamw");
  EXPECT_EQ(config.optimizer.betas, std::pair(0.5, 0.0));
  EXPECT_EQ(config.optimizer.groups, std::vector<std::string>{"*.bias: weight_decay=0"});
  EXPECT_EQ(config.train.steps, 10);
  EXPECT_EQ(config.train.seed, (1ull << 63) - 1);
  EXPECT_EQ(config.train.bucket_bytes, 64u << 10);
  EXPECT_EQ(config.train.directory, "out");
}

TEST(Load, WholeNumberListsKnowTheirItems) {
  const auto empty = load_text("[model]\nhidden = []");
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->config.model.hidden.empty());
  const std::string allowed = "; allowed: a list of whole numbers from 1 to 1000000 like [128, 64]";
  EXPECT_EQ(mistake("[model]\nhidden = [\"a\"]"),
            "job.toml:2: model.hidden = [ \"a\" ] is a list of text" + allowed);
  EXPECT_EQ(mistake("[model]\nhidden = [8, 0]"),
            "job.toml:2: model.hidden = [ 8, 0 ] is out of range" + allowed);
  EXPECT_EQ(mistake("[model]\nhidden = [1000001, 8]"),
            "job.toml:2: model.hidden = [ 1000001, 8 ] is out of range" + allowed);
  EXPECT_EQ(mistake("[model]\nhidden = [8, 1.5]"),
            "job.toml:2: model.hidden = [ 8, 1.5 ] is a list of numbers" + allowed);
  EXPECT_EQ(
      mistake("[model]\nhidden = [8, true]"),
      "job.toml:2: model.hidden = [ 8, true ] is a list that is neither all text nor all numbers" + allowed);
  EXPECT_EQ(mistake("[model]\nhidden = 8"), "job.toml:2: model.hidden = 8 is a whole number" + allowed);
}

TEST(Load, APairIsTwoNumbersInTheirRange) {
  const std::string allowed = "; allowed: two numbers from 0 to 0.999999 like [0.9, 0.999]";
  const auto refusal = [](const std::string& value) { return mistake("[optimizer]\nbetas = " + value); };
  EXPECT_EQ(refusal("0.9"), "job.toml:2: optimizer.betas = 0.9 is a number with a fraction" + allowed);
  EXPECT_EQ(refusal("[]"), "job.toml:2: optimizer.betas = [] is an empty list" + allowed);
  EXPECT_EQ(refusal("[0.9]"), "job.toml:2: optimizer.betas = [ 0.9 ] has 1 numbers, expected 2" + allowed);
  EXPECT_EQ(refusal("[0.9, 1]"), "job.toml:2: optimizer.betas = [ 0.9, 1 ] is out of range" + allowed);
  EXPECT_EQ(refusal("[-0.1, 0.5]"), "job.toml:2: optimizer.betas = [ -0.1, 0.5 ] is out of range" + allowed);
  const auto on_the_command_line = load_text("", {"optimizer.name=adam", "optimizer.betas=[0.8, 0.95]"});
  ASSERT_TRUE(on_the_command_line);
  EXPECT_EQ(on_the_command_line->config.optimizer.betas, std::pair(0.8, 0.95));
}

TEST(Load, TextIsTextAndTheUnsetIsNotWritten) {
  EXPECT_EQ(mistake("[data]\npath = 3"),
            "job.toml:2: data.path = 3 is a whole number; allowed: a path like \"data/mnist\"");
  EXPECT_EQ(mistake("[train]\ndirectory = \"\""),
            "job.toml:2: train.directory = \"\" is empty; allowed: text like \"runs/first\"");
  EXPECT_EQ(mistake("[train]\nseed = -1"),
            "job.toml:2: train.seed = -1 is out of range; allowed: a whole number from 0 to "
            "9223372036854775807");
}

TEST(Load, TextOnTheCommandLineNeedsNoQuotes) {
  for (const std::string word : {"nan", "7", "true", "1979-05-27", "plain"}) {
    const auto loaded = load(kKeys, {.text = "", .file_name = "", .overrides = {"train.directory=" + word}});
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(loaded->config.train.directory, word);
  }
}

TEST(Load, ARunIsNamedAfterItsJob) {
  const auto directory = [](const std::string& file) {
    return load(kKeys, {.text = "", .file_name = file, .overrides = {}})->config.train.directory;
  };
  EXPECT_EQ(directory("job.toml"), "runs/job");
  EXPECT_EQ(directory("jobs/mnist.2.toml"), "runs/mnist.2");
  EXPECT_EQ(directory(""), "runs/job");
}

TEST(Load, PathsAreRelativeToTheJobFileOrForOverridesToTheWorkingDirectory) {
  const auto config = [](const std::string& file, const std::string& here, const std::string& override) {
    const std::string text =
        "[data]\nkind = \"csv\"\npath = \"../data/a.csv\"\ntest_path = \"/abs/b.csv\"\n"
        "[model]\ninitial = \"w.safetensors\"\n[train]\ndirectory = \"out\"\n";
    const auto loaded =
        load(kKeys, {.text = text,
                     .file_name = file,
                     .overrides = override.empty() ? std::vector<std::string>{} : std::vector{override},
                     .working_directory = here});
    EXPECT_TRUE(loaded) << loaded.error().text();
    return loaded->config;
  };
  const Config below = config("jobs/x.toml", "/here", "");
  EXPECT_EQ(below.data.path, "/here/data/a.csv");
  EXPECT_EQ(below.data.test_path, "/abs/b.csv");
  EXPECT_EQ(below.model.initial, "/here/jobs/w.safetensors");
  EXPECT_EQ(below.train.directory, "out") << "an output is relative to the working directory";
  EXPECT_EQ(config("/elsewhere/jobs/x.toml", "/here", "").data.path, "/elsewhere/data/a.csv");
  EXPECT_EQ(config("jobs/x.toml", "", "").data.path, "data/a.csv");
  EXPECT_EQ(config("jobs/x.toml", "/here", "data.path=c.csv").data.path, "/here/c.csv");
  EXPECT_EQ(config("jobs/x.toml", "/here", "data.path=7").data.path, "/here/7") << "text needs no quotes";
  EXPECT_EQ(config("jobs/x.toml", "/here", "model.initial=").model.initial, "");
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
  EXPECT_EQ(loaded->locations.at("launch.ranks"), "--set launch.ranks=4");
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
            "--set launch.ranks: expected KEY=VALUE. Write --set launch.ranks=4.");
}

// The answer to any bytes is a config or a kUsage error, never an exception or a crash.
TEST(Load, SurvivesATextCutOrChangedAnywhere) {
  const std::string text =
      "[launch]\nranks = 2\nmemory_per_rank = \"1 GiB\"\ninterfaces = [\"lo\", \"eth0\"]\n[log]\nlevel = "
      "'info'\n";
  std::size_t accepted = 0, refused = 0;
  const auto look = [&](const std::string& changed) {
    const std::string answer = mistake(changed);
    ++(answer == "accepted" ? accepted : refused);
    EXPECT_NE(answer, "") << changed;
  };
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    look(text.substr(0, cut));
    for (const char c : {'\0', '"', '[', '=', '\n', '\xff', '{', '.'}) {
      std::string changed = text;
      changed[cut] = c;
      look(changed);
    }
  }
  // Texts that end with a line, and changes of a blank or of a value, are accepted.
  EXPECT_EQ(accepted, 57u);
  EXPECT_EQ(accepted + refused, 9 * text.size());
}

}  // namespace
}  // namespace cohort::config
