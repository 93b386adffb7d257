#include "state/model_facts.h"

#include "storage/content.h"

#include <gtest/gtest.h>

namespace cohort::state {
namespace {

using Metadata = std::map<std::string, std::string>;

ModelFacts some_facts() {
  return {.kind = "mlp",
          .settings = {{"hidden", "[128,64]"}, {"activation", "relu"}, {"dropout", "0.1"}, {"own", "1.50"}},
          .input_shape = {2},
          .features = {"wide", "tall \"x\""},
          .mean = {0.1, -3},
          .deviation = {1e-300, 2},
          .white = 255,
          .target = "what",
          .classes = {"cat", "dög"},
          .outputs = 2,
          .loss = "cross_entropy",
          .others = {{"step", "12"}, {"mine", "free text"}}};
}

void expect_equal(const ModelFacts& a, const ModelFacts& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.settings, b.settings);
  EXPECT_EQ(a.input_shape, b.input_shape);
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.deviation, b.deviation);
  EXPECT_EQ(a.white, b.white);
  EXPECT_EQ(a.context, b.context);
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.vocabulary, b.vocabulary);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.others, b.others);
}

TEST(ModelFacts, AreReadAsTheyWereWritten) {
  expect_equal(*facts_in(*metadata_of(some_facts())), some_facts());
  const ModelFacts text{.kind = "gpt",
                        .input_shape = {64},
                        .context = 64,
                        .tokens = "char",
                        .vocabulary = {"\n", " ", "a", "é"},
                        .outputs = 4};
  expect_equal(*facts_in(*metadata_of(text)), text);
  expect_equal(*facts_in(*metadata_of({})), {});
}

TEST(ModelFacts, HaveTheDocumentedForm) {
  const Metadata metadata = *metadata_of(some_facts());
  EXPECT_EQ(metadata.at("cohort.version"), "1");
  EXPECT_EQ(
      metadata.at("cohort.model"),
      R"({"kind":"mlp","settings":{"activation":"relu","dropout":0.1,"hidden":[128,64],"own":"1.50"}})");
  EXPECT_EQ(metadata.at("cohort.output"),
            R"({"loss":"cross_entropy","target":"what","classes":["cat","dög"],"outputs":2})");
  EXPECT_EQ(metadata.at("step"), "12");
  EXPECT_FALSE(metadata.contains("cohort.vocabulary"));
}

TEST(ModelFacts, ThatContradictEachOtherAreRefused) {
  for (const auto& spoil :
       std::vector<void (*)(ModelFacts&)>{[](ModelFacts& facts) { facts.mean.pop_back(); },
                                          [](ModelFacts& facts) {
                                            facts.mean = facts.deviation = {1, 1, 1};
                                          },
                                          [](ModelFacts& facts) { facts.deviation[0] = 0; },
                                          [](ModelFacts& facts) { facts.features.pop_back(); },
                                          [](ModelFacts& facts) { facts.input_shape = {0}; },
                                          [](ModelFacts& facts) { facts.classes[0] = "\xff"; },
                                          [](ModelFacts& facts) { facts.others["x"] = "\xff"; },
                                          [](ModelFacts& facts) { facts.others["cohort.model"] = "x"; }}) {
    ModelFacts facts = some_facts();
    spoil(facts);
    EXPECT_EQ(code_name(metadata_of(facts)), "usage");
  }
}

TEST(ModelFacts, OfAnotherProgramOrVersionAreRefused) {
  const auto none = facts_in({{"format", "pt"}});
  EXPECT_EQ(code_name(none), "usage");
  EXPECT_FALSE(none.error().remedy().empty());
  EXPECT_EQ(code_name(facts_in({{"cohort.version", "2"}})), "unsupported");
}

TEST(ModelFacts, ThatAreDamagedAreNamed) {
  for (const std::string text :
       {"", "[]", "{", "7", R"({"kind":7})", R"({"settings":{"a":1},"kind":null})"}) {
    Metadata metadata = *metadata_of(some_facts());
    metadata["cohort.model"] = text;
    const auto facts = facts_in(metadata);
    ASSERT_EQ(code_name(facts), "corrupt") << text;
    EXPECT_NE(facts.error().text().find("cohort.model"), std::string::npos);
  }
  Metadata metadata = *metadata_of(some_facts());
  metadata["cohort.input"] = R"({"shape":[2],"mean":[1],"deviation":[0]})";
  EXPECT_EQ(code_name(facts_in(metadata)), "corrupt");
}

}  // namespace
}  // namespace cohort::state
