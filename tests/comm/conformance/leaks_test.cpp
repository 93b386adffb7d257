#include "comm/conformance/kind.h"

#include <filesystem>
#include <thread>

namespace cohort::test {
namespace {

class Leaks : public Conformance {};

std::ptrdiff_t num_entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

// A thread that was joined may still be listed for a moment.
bool comes_down_to(const char* folder, std::ptrdiff_t limit) {
  for (int i = 0; i < 500 && num_entries(folder) > limit; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return num_entries(folder) <= limit;
}

TEST_P(Leaks, NoThreadAndNoDescriptorIsLeftBehind) {
  const auto live = [&](bool fails) {
    run(3, [&](Seat& seat) -> Status {
      COHORT_ASSIGN_OR_RETURN(const auto group, seat->split(seat->rank() % 2, 0, "half"));
      COHORT_RETURN_IF_ERROR(group->run(barrier()));
      if (fails && seat->rank() == 0) seat->abort(Error(ErrorCode::kAborted, "enough"));
      const Status outcome = seat->run(barrier());
      if (fails == outcome.has_value())
        return unexpected(seat, "the barrier {}, expected the opposite", fails ? "succeeded" : "failed");
      return seat.rank.barrier();
    });
  };
  live(false);
  const std::ptrdiff_t num_threads = num_entries("/proc/self/task");
  const std::ptrdiff_t num_descriptors = num_entries("/proc/self/fd");
  for (int i = 0; i < 5; ++i) {
    live(false);
    if (!lacks(Ability::kEndsCalls)) live(true);
  }
  if (!comes_down_to("/proc/self/fd", num_descriptors)) {
    // Objects that are kept for some seconds on purpose are freed when the next one of their kind is made.
    std::this_thread::sleep_for(std::chrono::seconds(6));
    live(false);
  }
  EXPECT_TRUE(comes_down_to("/proc/self/task", num_threads)) << num_entries("/proc/self/task");
  EXPECT_TRUE(comes_down_to("/proc/self/fd", num_descriptors)) << num_entries("/proc/self/fd");
}

COHORT_FOR_ALL_KINDS(Leaks);

}  // namespace
}  // namespace cohort::test
