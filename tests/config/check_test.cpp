#include "config/load.h"

#include "all_keys.h"

#include <gtest/gtest.h>

namespace cohort::config {
namespace {

// The mistakes of the defaults with these overrides, or "fine".
std::string verdict(const std::vector<std::string>& overrides) {
  const auto loaded = load(kKeys, {.text = "", .file_name = "job.toml", .overrides = overrides});
  return loaded ? "fine" : loaded.error().text();
}

// Whether the overrides are refused with a message that has these words. A wrong key would be refused, too,
// with other words.
bool refuses(const std::vector<std::string>& overrides, const std::string& words) {
  return verdict(overrides).find(words) != std::string::npos;
}

TEST(Check, TheDefaultsGoTogether) {
  EXPECT_EQ(verdict({}), "fine");
}

TEST(Check, FilesRequireAPath) {
  EXPECT_EQ(verdict({"data.kind=idx"}),
            "--set data.kind=idx: data.kind = \"idx\" requires data.path: name the file or folder");
  EXPECT_EQ(verdict({"data.kind=idx", "data.path=data/mnist"}), "fine");
  EXPECT_TRUE(refuses({"data.kind=csv"}, "data.kind = \"csv\" requires data.path"));
}

// x: the model of the row can be trained on the data of the column.
TEST(Check, EveryModelWithEveryKindOfData) {
  const std::vector<std::string> data{"idx", "csv", "text", "digits", "spirals", "regression", "markov"};
  const std::vector<std::pair<std::string, std::string>> fits{
      {"linear", ".x...x."}, {"logistic", "xx.xx.."}, {"softmax", "xx.xx.."}, {"mlp", "xx.xxx."},
      {"lenet", "x..x..."},  {"resnet18", "x..x..."}, {"gpt", "..x...x"}};
  for (const auto& [model, row] : fits) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      std::vector<std::string> overrides{"model.kind=" + model, "data.kind=" + data[i]};
      if (i < 3) overrides.emplace_back("data.path=somewhere");
      if (i == 3 || i == 4) overrides.emplace_back("data.classes=2");
      const std::string found = verdict(overrides);
      EXPECT_EQ(found == "fine", row[i] == 'x') << model << " on " << data[i] << ": " << found;
      EXPECT_EQ(found.find("cannot learn from") != std::string::npos, row[i] != 'x') << found;
    }
  }
}

TEST(Check, AMistakeBeginsWithItsLocation) {
  const auto loaded =
      load(kKeys, {.text = "[data]\nkind = \"markov\"\n", .file_name = "job.toml", .overrides = {}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().text(),
            "job.toml:2: model.kind = \"mlp\" cannot learn from data.kind = \"markov\"; tokens require "
            "model.kind = \"gpt\"");
}

TEST(Check, HeadsDivideTheWidth) {
  const std::vector<std::string> gpt{"model.kind=gpt", "data.kind=markov"};
  const auto with = [&](const std::string& more) {
    auto overrides = gpt;
    overrides.push_back(more);
    return verdict(overrides);
  };
  EXPECT_EQ(with("model.heads=8"), "fine");
  EXPECT_EQ(with("model.heads=5"), "--set model.heads=5: model.heads = 5 does not divide model.width = 128");
  EXPECT_EQ(with("model.width=130"),
            "--set model.width=130: model.heads = 4 does not divide model.width = 130");
  EXPECT_EQ(verdict({"model.heads=5"}), "fine") << "no gpt, no heads";
}

TEST(Check, ClassesFitTheGeneratorAndTheModel) {
  EXPECT_TRUE(refuses({"data.classes=11"}, "data.classes = 11 is above 10"));
  EXPECT_EQ(verdict({"data.classes=11", "data.kind=spirals"}), "fine");
  EXPECT_TRUE(refuses({"model.kind=logistic"}, "requires data.classes = 2, found 10"));
  EXPECT_EQ(verdict({"model.kind=logistic", "data.classes=2"}), "fine");
}

TEST(Check, SchedulesHaveWhatTheyNeed) {
  for (const std::string& name : find_key(kKeys, "schedule.name")->choices) {
    EXPECT_EQ(verdict({"schedule.name=" + name}), "fine");
  }
  EXPECT_EQ(verdict({"schedule.scale_with_batch=sqrt"}),
            "--set schedule.scale_with_batch=sqrt: schedule.scale_with_batch = \"sqrt\" requires "
            "schedule.base_batch_size: the batch size that optimizer.learning_rate is right for");
  EXPECT_EQ(verdict({"schedule.scale_with_batch=sqrt", "schedule.base_batch_size=64"}), "fine");
}

TEST(Check, SchedulesGoDown) {
  for (const std::string name : {"cosine", "cosine-restarts", "polynomial", "wsd"}) {
    EXPECT_EQ(verdict({"schedule.name=" + name, "schedule.eta_min=1"}),
              "--set schedule.eta_min=1: schedule.eta_min = 1 is above optimizer.learning_rate = 0.05; "
              "schedule.name = \"" +
                  name + "\" goes down");
  }
  EXPECT_TRUE(refuses({"schedule.name=plateau", "schedule.min_lr=1"}, "schedule.min_lr = 1 is above"));
  EXPECT_TRUE(refuses({"schedule.name=wsd", "schedule.total_steps=9", "schedule.decay_steps=10"},
                      "schedule.decay_steps = 10 is above schedule.total_steps = 9"));
  EXPECT_EQ(verdict({"schedule.name=wsd", "schedule.decay_steps=10"}), "fine");
}

TEST(Check, MilestonesIncrease) {
  EXPECT_EQ(verdict({"schedule.name=multi-step", "schedule.milestones=[3, 5]"}), "fine");
  EXPECT_TRUE(refuses({"schedule.name=multi-step", "schedule.milestones=[3, 3]"}, "[3, 3] must increase"));
  EXPECT_TRUE(refuses({"schedule.name=multi-step", "schedule.milestones=[5, 3]"}, "[5, 3] must increase"));
}

TEST(Check, ACycleOfMomentumRequiresMomentum) {
  EXPECT_TRUE(refuses({"schedule.name=one-cycle", "optimizer.momentum=0"},
                      "optimizer.name = \"sgd\" has none with these"));
  EXPECT_TRUE(refuses({"schedule.name=one-cycle", "optimizer.name=adagrad"}, "has none with these settings"));
  EXPECT_TRUE(refuses({"schedule.name=one-cycle", "optimizer.name=nadam"}, "has none with these settings"));
  EXPECT_EQ(verdict({"schedule.name=one-cycle", "optimizer.name=lion"}), "fine");
  EXPECT_EQ(verdict({"schedule.name=one-cycle", "optimizer.momentum=0", "schedule.cycle_momentum=false"}),
            "fine");
  EXPECT_EQ(verdict({"schedule.name=one-cycle", "optimizer.name=adam"}), "fine");
  EXPECT_TRUE(refuses({"schedule.name=one-cycle", "schedule.max_momentum=0.8"},
                      "schedule.base_momentum = 0.85 is above schedule.max_momentum = 0.8"));
  EXPECT_TRUE(refuses({"schedule.name=one-cycle", "schedule.three_phase=true", "schedule.pct_start=0.6"},
                      "schedule.pct_start = 0.6 is above 0.5"));
}

TEST(Check, APlateauHasLossesToWatch) {
  EXPECT_TRUE(refuses({"schedule.name=plateau", "train.evaluate_every=0"}, "evaluates only at the end"));
  EXPECT_EQ(verdict({"schedule.name=plateau", "train.evaluate_every=0", "schedule.metric=training"}), "fine");
  EXPECT_TRUE(
      refuses({"schedule.name=plateau", "schedule.threshold=2"}, "schedule.threshold = 2 is above 1"));
  EXPECT_EQ(verdict({"schedule.name=plateau", "schedule.threshold=2", "schedule.threshold_mode=abs"}),
            "fine");
}

TEST(Check, FactorsOfRanksHaveAMean) {
  EXPECT_EQ(verdict({"train.rank_factors=[1, 0.5]"}), "fine");
  EXPECT_EQ(verdict({"train.rank_factors=[]"}), "fine");
  EXPECT_TRUE(refuses({"train.rank_factors=[0, 0]"}, "has no number above 0"));
  EXPECT_TRUE(refuses({"train.rank_factors=[1, -1]"}, "a list of numbers from 0 to 1000000 like [1, 0.5]"));
  EXPECT_TRUE(refuses({"train.rank_factors=1"}, "a list of numbers"));
  EXPECT_TRUE(refuses({"train.rank_factors=[1, 2]", "train.deterministic=any-world", "train.micro_batches=4"},
                      "train.rank_factors depends on the number of ranks"));
}

TEST(Check, NesterovRequiresMomentum) {
  EXPECT_EQ(verdict({"optimizer.nesterov=true"}), "fine");
  EXPECT_EQ(
      verdict({"optimizer.nesterov=true", "optimizer.momentum=0"}),
      "--set optimizer.nesterov=true: optimizer.nesterov = true requires optimizer.momentum above 0, and "
      "it is 0");
}

TEST(Check, SolversHaveKeysOfTheirOwn) {
  EXPECT_EQ(verdict({"optimizer.name=lbfgs", "optimizer.history_size=5", "optimizer.weight_decay=1",
                     "optimizer.learning_rate=0.1", "schedule.name=cosine"}),
            "fine")
      << "training warns of a rate and a schedule without effect";
  EXPECT_TRUE(refuses({"optimizer.name=adam", "optimizer.history_size=5"}, "only on lbfgs, owlqn"));
  EXPECT_TRUE(refuses({"optimizer.name=lbfgs", "optimizer.l1=0.5"}, "only on owlqn"));
  EXPECT_TRUE(refuses({"optimizer.name=lbfgs", "optimizer.clip_grad_norm=1"}, "no effect on the solver"));
  EXPECT_TRUE(refuses({"optimizer.name=lbfgs", "precision.compute=bf16"}, "no effect on the solver"));
  EXPECT_TRUE(refuses({"optimizer.name=lbfgs", "average.kind=ema"}, "no effect on the solver"));
  EXPECT_TRUE(
      refuses({"optimizer.name=gauss-newton", "model.kind=gpt", "data.kind=markov"}, "second derivatives"));
  EXPECT_EQ(verdict({"optimizer.name=lbfgs", "model.kind=gpt", "data.kind=markov"}), "fine");
}

TEST(Check, SettingsOfAnotherOptimizerHaveNoEffect) {
  EXPECT_EQ(verdict({"optimizer.name=rmsprop", "optimizer.momentum=0.5", "optimizer.alpha=0.5"}), "fine");
  EXPECT_EQ(verdict({"optimizer.name=adam", "optimizer.alpha=0.99"}), "fine") << "the default";
  EXPECT_EQ(verdict({"optimizer.name=adam", "optimizer.alpha=0.5"}),
            "--set optimizer.alpha=0.5: optimizer.alpha has no effect on optimizer.name = \"adam\", only on "
            "rmsprop: leave it out");
  EXPECT_TRUE(refuses({"optimizer.name=adam", "optimizer.momentum=0.5"}, "optimizer.momentum has no effect"));
  EXPECT_EQ(verdict({"optimizer.name=lion", "optimizer.maximize=true", "optimizer.weight_decay=1"}), "fine");
}

TEST(Check, MuonHasThreeCoefficientsAndARateToFollow) {
  const std::string muon = "optimizer.name=muon";
  EXPECT_EQ(
      verdict({muon, "optimizer.ns_coefficients=[2, -1.5, 0.5]", "optimizer.fallback_betas=[0.8, 0.9]"}),
      "fine");
  EXPECT_TRUE(refuses({muon, "optimizer.ns_coefficients=[2, -1.5]"}, "has 2 numbers, expected 3"));
  EXPECT_TRUE(refuses({muon, "optimizer.learning_rate=0", "optimizer.fallback_learning_rate=0.1"},
                      "there is no curve to follow"));
  EXPECT_TRUE(refuses({"optimizer.fallback_eps=0.1"}, "optimizer.fallback_eps has no effect"));
  EXPECT_TRUE(refuses({"optimizer.name=lamb", "optimizer.trust_coefficient=0.1"}, "only on lars"));
  EXPECT_TRUE(refuses({"optimizer.name=adafactor", "optimizer.beta2_decay=0.5"}, "optimizer.beta2_decay"));
}

TEST(Check, AnyWorldRequiresAFixedNumberOfMicroBatches) {
  EXPECT_TRUE(refuses({"train.deterministic=any-world"}, "requires train.micro_batches"));
  EXPECT_EQ(verdict({"train.deterministic=any-world", "train.micro_batches=8"}), "fine");
}

TEST(Check, PatienceRequiresEvaluations) {
  EXPECT_TRUE(refuses({"train.patience=2", "train.evaluate_every=0"}, "evaluates only at the end"));
  EXPECT_EQ(verdict({"train.patience=2"}), "fine");
}

TEST(Check, AveragesAndMasksMustBeAskedFor) {
  EXPECT_EQ(verdict({"average.kind=ema", "average.decay=0.5", "average.warmup=true"}), "fine");
  EXPECT_TRUE(refuses({"average.kind=swa", "average.decay=0.5"}, "average.decay has no effect"));
  EXPECT_TRUE(refuses({"average.kind=swa", "average.warmup=true"}, "average.warmup has no effect"));
  for (const char* const key : {"start=2", "every=2", "evaluate=true", "update_bn=true"}) {
    EXPECT_TRUE(refuses({std::string("average.") + key}, "has no effect on average.kind = \"none\"")) << key;
    EXPECT_EQ(verdict({"average.kind=swa", std::string("average.") + key}), "fine");
  }
  EXPECT_TRUE(refuses({"average.kind=swa", "average.start=9", "train.steps=8"},
                      "average.start = 9 is above train.steps = 8"));
  EXPECT_EQ(verdict({"average.kind=swa", "average.start=8", "train.steps=8"}), "fine");
  EXPECT_TRUE(refuses({"mask.sparsity=0.5", "mask.file=a"}, "leave one of them out"));
  EXPECT_TRUE(refuses({"mask.parameters=[\"*\"]"}, "mask.parameters has no effect with mask.sparsity = 0"));
  EXPECT_EQ(verdict({"mask.sparsity=0.5", "mask.parameters=[\"*.bias\"]"}), "fine");
}

TEST(Check, AllAreListed) {
  const std::string found = verdict({"data.kind=text", "train.deterministic=any-world"});
  EXPECT_EQ(found.substr(0, 11), "3 mistakes:");
}

}  // namespace
}  // namespace cohort::config
