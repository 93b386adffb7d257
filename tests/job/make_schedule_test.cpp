#include "job/make_schedule.h"

#include "config/keys.h"
#include "config/load.h"
#include "update/schedule.h"

#include <gtest/gtest.h>
#include <set>

namespace cohort::job {
namespace {

using namespace learning_rate;  // NOLINT: every curve is made here

LearningRateSchedule made_from(const std::string& section, std::int64_t run_steps = 1000) {
  const auto keys = config::make_keys();
  const auto loaded = value_or_throw(
      config::load(keys, {.text = "[schedule]\n" + section, .file_name = "job.toml", .overrides = {}}));
  return make_learning_rate_schedule(loaded.config.schedule, run_steps);
}

Curve curve_from(const std::string& section, std::int64_t run_steps = 1000) {
  return made_from(section, run_steps).curve;
}

TEST(MakeLearningRateSchedule, TakesEverySettingOfAJob) {
  EXPECT_EQ(curve_from("name = 'step'\nstep_size = 7\ngamma = 0.25"), Curve(Step{7, 0.25}));
  EXPECT_EQ(curve_from("name = 'multi-step'\nmilestones = [3, 5]\ngamma = 0.25"),
            Curve(MultiStep{{3, 5}, 0.25}));
  EXPECT_EQ(curve_from("name = 'exponential'\nstep_size = 7\ngamma = 0.25"), Curve(Exponential{7, 0.25}));
  EXPECT_EQ(curve_from("name = 'inverse-sqrt'\ntimescale = 7"), Curve(InverseSquareRoot{7}));
  EXPECT_EQ(curve_from("name = 'polynomial'\ntotal_steps = 7\npower = 2\neta_min = 0.01"),
            Curve(Polynomial{7, 2, 0.01}));
  EXPECT_EQ(curve_from("name = 'cosine'\nt_max = 7\neta_min = 0.01"), Curve(Cosine{7, 0.01}));
  EXPECT_EQ(curve_from("name = 'cosine-restarts'\nt_0 = 7\nt_mult = 3\neta_min = 0.01"),
            Curve(CosineRestarts{7, 3, 0.01}));
  EXPECT_EQ(curve_from("name = 'one-cycle'\ntotal_steps = 7\npct_start = 0.25\nanneal_strategy = 'linear'\n"
                       "base_momentum = 0.5\nmax_momentum = 0.75\ndiv_factor = 2\nfinal_div_factor = 3\n"
                       "three_phase = true"),
            Curve(OneCycle{.total_steps = 7,
                           .pct_start = 0.25,
                           .anneal_strategy = OneCycle::Anneal::kLinear,
                           .base_momentum = 0.5,
                           .max_momentum = 0.75,
                           .div_factor = 2,
                           .final_div_factor = 3,
                           .three_phase = true}));
  EXPECT_EQ(curve_from("name = 'one-cycle'\ntotal_steps = 7\ncycle_momentum = false"),
            Curve(OneCycle{.total_steps = 7, .cycle_momentum = false}));
  EXPECT_EQ(curve_from("name = 'wsd'\ntotal_steps = 7\ndecay_steps = 2\ndecay = '1-sqrt'\neta_min = 0.01"),
            Curve(StableDecay{7, 2, StableDecay::Shape::kSquareRoot, 0.01}));
  EXPECT_EQ(curve_from("name = 'plateau'\nmetric = 'training'\nfactor = 0.5\npatience = 3\nthreshold = 0.25\n"
                       "threshold_mode = 'abs'\ncooldown = 2\nmin_lr = 0.01\neps = 0.001"),
            Curve(Plateau{.metric = Plateau::Metric::kTraining,
                          .factor = 0.5,
                          .patience = 3,
                          .threshold = 0.25,
                          .threshold_mode = Plateau::Threshold::kAbsolute,
                          .cooldown = 2,
                          .min_lr = 0.01,
                          .eps = 0.001}));
  const LearningRateSchedule other = made_from(
      "warmup_steps = 3\nwarmup = 'exponential'\nwarmup_start_factor = 0.5\nscale_with_batch = 'sqrt'\n"
      "base_batch_size = 32");
  EXPECT_EQ(other.warmup, (WarmUp{3, WarmUp::Shape::kExponential, 0.5}));
  EXPECT_EQ(other.scale_with_batch, (BatchScaling{BatchScaling::Rule::kSquareRoot, 32}));
}

TEST(MakeLearningRateSchedule, HasTheDefaultsOfTheLibrary) {
  EXPECT_EQ(made_from(""), LearningRateSchedule{});
  EXPECT_EQ(curve_from("name = 'plateau'"), Curve(Plateau{}));
  EXPECT_EQ(curve_from("name = 'one-cycle'"), Curve(OneCycle{.total_steps = 1000}));
}

// Each name of the key is another curve, and its settings make sense for runs of any length without further
// keys.
TEST(MakeLearningRateSchedule, KnowsEveryScheduleOfTheTable) {
  const auto keys = config::make_keys();
  std::set<std::size_t> kinds;
  for (const std::string& name : config::find_key(keys, "schedule.name")->choices) {
    for (const std::int64_t run_steps : {1, 2, 3, 4, 10, 20, 21, 1000}) {
      for (const char* const warmup : {"0", "20"}) {
        const auto made = made_from("name = '" + name + "'\nwarmup_steps = " + warmup, run_steps);
        EXPECT_TRUE(check_schedule(made)) << check_schedule(made).error().text();
        kinds.insert(made.curve.index());
      }
    }
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Curve>);
}

TEST(MakeLearningRateSchedule, StepsThatAreNotSetFollowFromTheRun) {
  const std::string warm = "warmup_steps = 20\nname = ";
  EXPECT_EQ(curve_from(warm + "'cosine'", 100), Curve(Cosine{80, 0}));
  EXPECT_EQ(curve_from(warm + "'cosine'", 20), Curve(Cosine{1, 0})) << "nothing is left after the warm-up";
  EXPECT_EQ(curve_from(warm + "'step'", 100), Curve(Step{27, 0.1}));
  EXPECT_EQ(curve_from(warm + "'exponential'", 100), Curve(Exponential{27, 0.1}));
  EXPECT_EQ(curve_from(warm + "'multi-step'", 100), Curve(MultiStep{{40, 60}, 0.1}));
  EXPECT_EQ(curve_from(warm + "'inverse-sqrt'", 100), Curve(InverseSquareRoot{20}));
  EXPECT_EQ(curve_from("name = 'inverse-sqrt'", 100), Curve(InverseSquareRoot{10}));
  EXPECT_EQ(curve_from(warm + "'cosine-restarts'", 100), Curve(CosineRestarts{20, 1, 0}));
  EXPECT_EQ(curve_from(warm + "'wsd'", 100), Curve(StableDecay{80, 8, StableDecay::Shape::kLinear, 0}));
}

}  // namespace
}  // namespace cohort::job
