#include "ucx/port.h"

#include "ucx/ucx_network.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

#define COHORT_SKIP_WITHOUT_UCX() \
  if (!UcxNetwork::is_there()) GTEST_SKIP() << "UCX is missing"

TEST(Port, ASettingThatUcxDoesNotKnowIsTheUsersMistake) {
  COHORT_SKIP_WITHOUT_UCX();
  const auto port = ucx::open_ucx_port({.settings = {{"KEEPALIVE_INTERVAL", "soon"}}});
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().code(), ErrorCode::kUsage);
  EXPECT_NE(port.error().text().find("KEEPALIVE_INTERVAL=soon"), std::string::npos) << port.error().text();
}

TEST(Port, TransportsThatCannotTellOfALossAreRefused) {
  COHORT_SKIP_WITHOUT_UCX();
  const ucx::UcxOptions options = {.settings = {{"TLS", "posix"}}};
  const auto first = ucx::open_ucx_port(options);
  const auto second = ucx::open_ucx_port(options);
  ASSERT_TRUE(first && second);
  RealClock clock;
  const auto joined =
      (*first)->join({.member = 0, .addresses = {(*first)->address(), (*second)->address()}}, clock);
  ASSERT_FALSE(joined);
  EXPECT_NE(joined.error().text().find("UCX cannot connect to member 1"), std::string::npos)
      << joined.error().text();
  EXPECT_NE(joined.error().remedy().find("UCX_TLS"), std::string::npos);
}

TEST(Port, MayBeLeftWithoutJoining) {
  COHORT_SKIP_WITHOUT_UCX();
  const auto port = ucx::open_ucx_port(ucx_on_loopback());
  ASSERT_TRUE(port);
  EXPECT_GT((*port)->address().size(), 8U);
}

}  // namespace
}  // namespace cohort::test
