#include "all_keys.h"

#include "config/keys.h"
#include "config/load.h"

#include <gtest/gtest.h>
#include <set>

namespace cohort::config {
namespace {

TEST(Keys, EveryRowIsComplete) {
  std::set<std::string> names;
  for (const Key& key : kKeys) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name << " stands twice";
    EXPECT_NE(section_of(key.name), "") << key.name;
    EXPECT_NE(key.type, "") << key.name;
    EXPECT_NE(key.allowed, "") << key.name;
    ASSERT_NE(key.help, "") << key.name;
    EXPECT_EQ(key.help.back(), '.') << key.name;
    EXPECT_EQ(key.help.find(". "), std::string::npos) << key.name << ": one sentence";
  }
}

TEST(Keys, DefaultsReadBackAsThemselves) {
  const Config config = default_config(kKeys);
  for (const Key& key : kKeys) EXPECT_EQ(key.show(config), key.fallback) << key.name;
}

TEST(Keys, WhatIsShownCanBeReadAgain) {
  const Config config = default_config(kKeys);
  std::vector<std::string> overrides;
  for (const Key& key : kKeys) {
    if (!key.show(config).empty()) overrides.push_back(key.name + "=" + key.show(config));
  }
  const auto loaded = load(kKeys, {.text = {}, .file_name = {}, .overrides = overrides});
  ASSERT_TRUE(loaded) << loaded.error().text();
  for (const Key& key : kKeys) {
    if (key.show(config).empty()) continue;
    EXPECT_EQ(key.show(loaded->config), key.show(config)) << key.name;
  }
}

TEST(Keys, NearestFindsMisspellingsAndOtherSections) {
  EXPECT_EQ(nearest_key(kKeys, "launch.rnaks"), "launch.ranks");
  EXPECT_EQ(nearest_key(kKeys, "ranks"), "launch.ranks");
  EXPECT_EQ(nearest_key(kKeys, "log.ranks"), "launch.ranks");
  EXPECT_EQ(nearest_key(kKeys, "rank"), "launch.ranks");
  EXPECT_EQ(nearest_key(kKeys, "optimizer.beta"), "optimizer.betas");
  EXPECT_EQ(nearest_key(kKeys, "sampler.fused"), std::nullopt);
}

}  // namespace
}  // namespace cohort::config
