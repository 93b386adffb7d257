#include "observe/plan_report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <numeric>

namespace cohort::observe {
namespace {

PlanReport small_plan() {
  return {.data = "digits, 2000 samples",
          .model = "mlp 784-128-10",
          .parameters = 101770,
          .update = "momentum, learning rate 0.05",
          .batch = 64,
          .epochs = 3,
          .steps_per_epoch = 32,
          .steps = 96,
          .slots_of_rank = {{0, 1, 2}, {3, 4}, {}},
          .buckets = {{.tensors = 3, .bytes = 5672, .first = "layers.1.bias", .last = "layers.0.bias"}},
          .programs = {{.num_lanes = 2,
                        .actions = {{.verb = Verb::kForward, .micro_batch = 0},
                                    {.verb = Verb::kReduce, .lane = 1, .bucket = 3, .after = {0}}}},
                       {.num_lanes = 2, .actions = {{.verb = Verb::kVote}}}},
          .bytes_per_step = 407080,
          .memory = {{"parameters", 1024}, {"gradients", 2048}},
          .run_directory = "runs/job"};
}

TEST(PlanReport, AsText) {
  EXPECT_EQ(plan_text(small_plan(), {}),
            "plan\n"
            "data        digits, 2000 samples\n"
            "model       mlp 784-128-10, 101770 parameters\n"
            "update      momentum, learning rate 0.05\n"
            "ranks       3\n"
            "batch       64 samples\n"
            "steps       96, 32 in each of 3 epochs\n"
            "exchanged   398 KiB per rank and step\n"
            "memory      3 KiB per rank\n"
            "written to  runs/job\n"
            "\n"
            "rank  slots\n"
            "0     0–2\n"
            "1     3, 4\n"
            "2     none\n"
            "\n"
            "bucket  size      tensors  from           to\n"
            "0       5.54 KiB  3        layers.1.bias  layers.0.bias\n"
            "\n"
            "#  lane  action of rank 0 in a step\n"
            "1  0     forward micro-batch 0\n"
            "2  1     reduce bucket 3\n"
            "\n"
            "memory of a rank  size\n"
            "parameters        1 KiB\n"
            "gradients         2 KiB\n");
}

TEST(PlanReport, AsJson) {
  const auto object = nlohmann::json::parse(plan_json(small_plan()));
  EXPECT_EQ(object.at("ranks"), 3);
  EXPECT_EQ(object.at("slots_of_rank"), nlohmann::json::parse("[[0,1,2],[3,4],[]]"));
  EXPECT_EQ(object.at("buckets").at(0).at("bytes"), 5672);
  EXPECT_EQ(object.at("programs"), nlohmann::json::parse(R"([
    {"rank": 0, "actions": [{"verb": "forward", "lane": 0, "micro_batch": 0}, {"verb": "reduce", "lane": 1, "bucket": 3}]},
    {"rank": 1, "actions": [{"verb": "vote", "lane": 0}]}])"));
  EXPECT_EQ(object.at("memory_bytes"), 3072);
  EXPECT_EQ(object.at("memory").at(1).at("what"), "gradients");
}

TEST(PlanReport, LongTablesAreCutButNotInJson) {
  PlanReport plan = small_plan();
  plan.slots_of_rank.assign(40, {7});
  const std::string text = plan_text(plan, {});
  EXPECT_NE(text.find("\n31    7\n… and 8 more\n"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(plan_json(plan)).at("slots_of_rank").size(), 40u);
}

TEST(PlanReport, SlotsWithGapsAreListed) {
  PlanReport plan = small_plan();
  plan.slots_of_rank = {{0, 2, 4}};
  EXPECT_NE(plan_text(plan, {}).find("\n0     0, 2, 4\n"), std::string::npos);
}

}  // namespace
}  // namespace cohort::observe
