// The kinds of communicators that a job may run on; MPI is in mpi_engine.cpp. One suite for each, so that
// CTest lists them.

#include "comm/conformance/message_passing_kind.h"
#include "comm/conformance/shared_memory_kind.h"
#include "train/conformance/training.h"

namespace cohort::test {
namespace {

std::vector<Kind> one(const std::string& name) {
  if (name == "shared_memory") return {shared_memory_kind(name, InArena::kEverybodys)};
  for (const NetworkKind& network : network_kinds()) {
    if (network.name != name) continue;
    if (name == "hosts_of_two") return {message_passing_kind(network, CollectiveAlgorithm::kHierarchical)};
    return {message_passing_kind(network)};
  }
  return {};
}

std::string name_of(const ::testing::TestParamInfo<Kind>& kind) {
  return kind.param.name;
}

// Without UCX there is no such kind, which is no mistake.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Training);

INSTANTIATE_TEST_SUITE_P(shared_memory, Training, ::testing::ValuesIn(one("shared_memory")), name_of);
INSTANTIATE_TEST_SUITE_P(loopback, Training, ::testing::ValuesIn(one("loopback")), name_of);
INSTANTIATE_TEST_SUITE_P(tcp_with_tls, Training, ::testing::ValuesIn(one("tls")), name_of);
INSTANTIATE_TEST_SUITE_P(hosts_of_two, Training, ::testing::ValuesIn(one("hosts_of_two")), name_of);
INSTANTIATE_TEST_SUITE_P(ucx, Training, ::testing::ValuesIn(one("ucx")), name_of);

}  // namespace
}  // namespace cohort::test
