#include "cohort/config_reference.h"

#include "all_keys.h"

#include <gtest/gtest.h>

namespace cohort::tool {
namespace {

using config::Key;
using config::kKeys;

TEST(ConfigReference, TheReferencePageNamesEveryKey) {
  const std::string page = config_page(kKeys);
  for (const Key& key : kKeys) {
    EXPECT_NE(page.find("`" + key.name + "`"), std::string::npos) << key.name;
    EXPECT_NE(page.find(key.help), std::string::npos) << key.name;
    EXPECT_NE(explain(key).find(key.help), std::string::npos) << key.name;
  }
}

}  // namespace
}  // namespace cohort::tool
