#include "machine/survey_libtorch.h"

#include "machine/given_files.h"

#include <gtest/gtest.h>

namespace cohort::machine {
namespace {

using namespace std::chrono_literals;

constexpr const char* kProbe =
    "version 2.13.0+cpu\nthreads 2\ncapability NO AVX\nfolder /opt/my libtorch/lib\nmatmul_ms 3.25\nload_ms "
    "412\n";

std::string reason(ProgramOutput output) {
  return survey_libtorch(programs_that_leave(std::move(output)), "/probe", 1s).error().text();
}

TEST(Probe, TellsSixFacts) {
  const Result<Libtorch> libtorch = parse_probe(kProbe);
  ASSERT_TRUE(libtorch) << libtorch.error().text();
  EXPECT_EQ(libtorch->version, "2.13.0+cpu");
  EXPECT_EQ(libtorch->threads, 2);
  EXPECT_EQ(libtorch->capability, "NO AVX");
  EXPECT_EQ(libtorch->folder, "/opt/my libtorch/lib");
  EXPECT_EQ(libtorch->matmul_ms, 3.25);
  EXPECT_EQ(libtorch->load_ms, 412);
}

TEST(Probe, AnythingElseIsRefused) {
  const std::string good = kProbe;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string bad[] = {"",
                             "Segmentation fault",
                             good + "colour blue\n",
                             good + "threads 2\n",
                             with("threads 2\n", ""),
                             with("threads 2", "threads"),
                             with("threads 2", "threads two"),
                             with("threads 2", "threads 0"),
                             with("threads 2", "threads -1"),
                             with("threads 2\n", "\nthreads 2\n"),
                             with("version 2.13.0+cpu", "version new"),
                             with("load_ms 412", "load_ms nan"),
                             with("load_ms 412", "load_ms -1"),
                             with("load_ms 412", "load_ms 412 ms")};
  for (const std::string& text : bad) {
    const Result<Libtorch> libtorch = parse_probe(text);
    ASSERT_FALSE(libtorch) << text;
    EXPECT_EQ(libtorch.error().code(), ErrorCode::kCorrupt);
  }
  EXPECT_EQ(parse_probe(with("threads 2\n", "")).error().text(), "the key 'threads' is missing");
}

TEST(Release, IsTheTwoLeadingNumbers) {
  EXPECT_EQ(release_of("2.13.0+cpu"), std::pair(2, 13));
  EXPECT_EQ(release_of("3.0"), std::pair(3, 0));
  for (const char* text : {"", "2", "2.", "two.13", "-2.13", "2.-1"})
    EXPECT_EQ(release_of(text), std::nullopt) << text;
}

TEST(SurveyLibtorch, KeepsTheReasonOfAFailure) {
  EXPECT_EQ(survey_libtorch(no_programs(), "/probe", 1s).error().text(),
            "cannot run the probe '/probe': there is no program '/probe'");
  EXPECT_EQ(
      reason({.exit_code = 127, .err = "/probe: error while loading\n/probe: libtorch.so: not found\n\n"}),
      "the probe ended with code 127: /probe: libtorch.so: not found");
  EXPECT_EQ(reason({.exit_code = 3}), "the probe ended with code 3");
  EXPECT_EQ(reason({.out = "hello"}),
            "cannot parse the output of the probe: the line 'hello' is not a known key and its value");
  const RunProgram hang = [](const std::vector<std::string>&,
                             std::chrono::nanoseconds) -> Result<ProgramOutput> {
    return Error(ErrorCode::kTimedOut, "no end after 1 s");
  };
  EXPECT_EQ(survey_libtorch(hang, "/probe", 1s).error().code(), ErrorCode::kTimedOut);
}

TEST(SurveyLibtorch, TakesWhatTheProbeSays) {
  EXPECT_EQ(survey_libtorch(programs_that_leave({.out = kProbe}), "/probe", 1s)->threads, 2);
}

}  // namespace
}  // namespace cohort::machine
