#include "ucx/processes/member.h"
#include "ucx/ucx_network.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thread>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

struct Case {
  std::string name{};
  std::string transports{};  // value of UCX_TLS
  std::string task{};
};

class Killed : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!UcxNetwork::is_there()) GTEST_SKIP() << "UCX is missing";
    directory_ = fmt::format("{}/cohort-ucx-{}-{}", testing::TempDir(), ::getpid(), now_ns());
    std::filesystem::create_directories(directory_);
    for (int rank = 0; rank < 3; ++rank) {
      members_.push_back(spawn_role(
          "member",
          {.rank = rank, .world = 3, .args = {directory_, GetParam().transports, GetParam().task}}));
    }
  }
  void TearDown() override {
    members_.clear();
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  std::string said_by(int rank) {
    Process& member = members_[static_cast<std::size_t>(rank)];
    return member.output().text + member.error_output().text;
  }
  void wait_until_ready(int rank) {
    Process& member = members_[static_cast<std::size_t>(rank)];
    for (const auto until = std::chrono::steady_clock::now() + 30s;
         said_by(rank).find("ready\n") == std::string::npos; std::this_thread::sleep_for(1ms)) {
      const bool is_over = value_or_throw(member.poll()).has_value();
      ASSERT_FALSE(is_over || std::chrono::steady_clock::now() > until) << said_by(rank);
    }
  }
  double number_of(int rank, const std::string& key) {
    const std::string said = said_by(rank);
    const std::size_t at = said.find(key + "=");
    if (at != std::string::npos) return std::stod(said.substr(at + key.size() + 1));
    ADD_FAILURE() << "no " << key << "= in: " << said;
    return 0;
  }

  std::string directory_;
  std::vector<Process> members_;
};

INSTANTIATE_TEST_SUITE_P(Every, Killed,
                         testing::Values(Case{"tcp_idle", "tcp", "idle"},
                                         Case{"tcp_all_reduce", "tcp", "all_reduce"},
                                         Case{"tcp_send", "tcp", "send"}, Case{"all_idle", "all", "idle"},
                                         Case{"all_all_reduce", "all", "all_reduce"}),
                         [](const auto& each) { return each.param.name; });

TEST_P(Killed, AMemberIsLostForAllOthers) {
  for (int rank = 0; rank < 3; ++rank) wait_until_ready(rank);
  const auto killed = static_cast<double>(now_ns());
  ASSERT_TRUE(members_[2].signal(SIGKILL));
  for (const int survivor : {0, 1}) {
    const auto status =
        members_[static_cast<std::size_t>(survivor)].wait(std::chrono::steady_clock::now() + 30s);
    ASSERT_TRUE(status) << said_by(survivor);
    EXPECT_EQ(*status, ExitStatus{.code = 0}) << said_by(survivor);
    EXPECT_EQ(number_of(survivor, "code"), static_cast<double>(ErrorCode::kPeerLost)) << said_by(survivor);
    EXPECT_NE(said_by(survivor).find("lost=2 "), std::string::npos) << said_by(survivor);
    // UCX reported the loss, not a missing sign of life.
    EXPECT_NE(said_by(survivor).find("UCX lost the connection to member 2"), std::string::npos)
        << said_by(survivor);
    fmt::print("{}: member {} knew {:.2f} ms after the kill, its call ended after {:.2f} ms\n",
               GetParam().name, survivor, (number_of(survivor, "at") - killed) / 1e6,
               (number_of(survivor, "ended") - killed) / 1e6);
  }
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  return cohort::test::run_tests_or_role(argc, argv, cohort::test::ucx_roles());
}
