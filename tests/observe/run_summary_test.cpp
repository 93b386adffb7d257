#include "observe/run_summary.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cohort::observe {
namespace {

RunSummary three_steps() {
  RunSummary summary{.ranks = 2, .best_loss = 0.25, .metrics = {{"accuracy", 0.975}}};
  for (int step = 1; step <= 3; ++step) {
    summary.add({.step = step,
                 .epoch = (step + 1) / 2,
                 .loss = 1.0 / step,
                 .samples = 64,
                 .seconds = 0.5,
                 .communication_seconds = 0.125,
                 .stall_seconds = 0.0625,
                 .skipped = step == 2});
  }
  summary.seconds = 2;
  summary.memory = {{"parameters", 1024}, {"gradients", 2048}};
  summary.parameters_hash = "0123456789abcdef";
  summary.run_directory = "runs/job";
  return summary;
}

TEST(RunSummary, AddsUpItsSteps) {
  const RunSummary summary = three_steps();
  EXPECT_EQ(summary.steps, 3);
  EXPECT_EQ(summary.skipped_steps, 1);
  EXPECT_EQ(summary.epochs, 2);
  EXPECT_EQ(summary.samples, 192);
  EXPECT_EQ(summary.loss, 1.0 / 3);
  EXPECT_EQ(summary.samples_per_second(), 128);
  EXPECT_EQ(summary.communication_share(), 0.25);
  EXPECT_EQ(summary.stall_share(), 0.125);
}

TEST(RunSummary, AsATable) {
  EXPECT_EQ(summary_table(three_steps(), {}),
            "run               done\n"
            "steps             3, 1 of them skipped\n"
            "epochs            2\n"
            "loss              0.33333\n"
            "best loss         0.25\n"
            "accuracy          0.975\n"
            "speed             128 samples/s on 2 ranks\n"
            "time              2 s\n"
            "communication     25 % of the steps\n"
            "waiting for data  12 % of the steps\n"
            "memory            3 KiB a rank: parameters 1 KiB, gradients 2 KiB\n"
            "parameters        0123456789abcdef\n"
            "written to        runs/job\n");
}

TEST(RunSummary, ALossScaleIsShown) {
  RunSummary summary = three_steps();
  EXPECT_TRUE(nlohmann::json::parse(summary_json(summary)).at("loss_scale").is_null());
  summary.add({.step = 4, .loss_scale = 512});
  EXPECT_EQ(nlohmann::json::parse(summary_json(summary)).at("loss_scale"), 512);
  EXPECT_NE(summary_table(summary, {}).find("loss scale        512\n"), std::string::npos);
}

TEST(RunSummary, AsJson) {
  const auto object = nlohmann::json::parse(summary_json(three_steps()));
  EXPECT_EQ(object.at("ended"), "done");
  EXPECT_EQ(object.at("steps"), 3);
  EXPECT_EQ(object.at("loss"), 1.0 / 3);
  EXPECT_EQ(object.at("metrics").at("accuracy"), 0.975);
  EXPECT_EQ(object.at("samples_per_second"), 128);
  EXPECT_EQ(object.at("memory_bytes"), 3072);
  EXPECT_EQ(object.at("memory").at(1).at("what"), "gradients");
  EXPECT_EQ(object.at("parameters_hash"), "0123456789abcdef");
  EXPECT_EQ(object.at("run_directory"), "runs/job");
}

TEST(RunSummary, ARunWithoutAStepHasNoLoss) {
  const RunSummary nothing{.end = RunEnd::kInterrupted};
  const auto object = nlohmann::json::parse(summary_json(nothing));
  EXPECT_TRUE(object.at("loss").is_null());
  EXPECT_TRUE(object.at("best_loss").is_null());
  EXPECT_TRUE(object.at("metrics").is_object());
  EXPECT_EQ(object.at("samples_per_second"), 0);
  EXPECT_EQ(object.at("ended"), "interrupted");
  EXPECT_EQ(summary_table(nothing, {}).find("loss"), std::string::npos);
}

TEST(RunSummary, ALossThatIsNoNumberIsNull) {
  RunSummary summary;
  summary.add({.loss = std::nan("")});
  EXPECT_TRUE(nlohmann::json::parse(summary_json(summary)).at("loss").is_null());
}

}  // namespace
}  // namespace cohort::observe
