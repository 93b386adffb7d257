#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace {

// Small models gain nothing by threads, and threads that spin lose a lot on a busy machine.
class OneThread : public testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};

const auto* const one_thread = testing::AddGlobalTestEnvironment(new OneThread);

}  // namespace
