#include "comm/shared_memory/processes/ranks.h"
#include "soak.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::size_t num_entries(const fs::path& folder, const std::string& containing) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().find(containing) != std::string::npos) ++count;
  }
  return count;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Shared memory in use on the whole machine.
std::int64_t shared_kib() {
  const std::string text = text_of("/proc/meminfo");
  return std::stoll(text.substr(text.find("Shmem:") + 6));
}

std::size_t num_own_descriptors() {
  return num_entries("/proc/self/fd", "");
}

/// Processes whose command line contains the word.
std::vector<std::string> processes_with(const std::string& word) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (text_of(entry.path() / "cmdline").find(word) != std::string::npos) found.push_back(name);
  }
  return found;
}

/// Whether a survivor ended with a permitted error: it lost a peer during a call, or while connecting.
bool is_fine(const std::string& said) {
  const auto code = static_cast<ErrorCode>(number_in(said, "code"));
  return code == ErrorCode::kPeerLost || code == ErrorCode::kTimedOut;
}

// A rank is killed at a random moment, possibly while the ranks connect: nothing of the job is left behind.
TEST(KillCycles, LeaveNothingBehind) {
  const std::string word = fmt::format("cohort-cycles-{}", ::getpid());
  std::mt19937_64 random(20'240'611);
  const std::size_t descriptors = num_own_descriptors();
  const std::int64_t shared = shared_kib();
  int num_in_meeting = 0;
  const int num_cycles = rounds(60, 500);
  for (int cycle = 0; cycle < num_cycles; ++cycle) {
    const int world = 2 + static_cast<int>(random() % 2);
    const int victim = static_cast<int>(random() % static_cast<unsigned>(world));
    const auto delay = std::chrono::microseconds(random() % 25'000);
    Ranks ranks({.rendezvous = fmt::format("{}-{}", word, cycle),
                 .world = world,
                 .meeting_limit = 300ms,
                 .task = "hammer"});
    std::this_thread::sleep_for(delay);  // the random moment of the kill is what is tested
    ASSERT_TRUE(ranks[victim].signal(SIGKILL)) << "cycle " << cycle << ": " << ranks.said_by(victim);
    for (int rank = 0; rank < world; ++rank) {
      const ExitStatus status = ranks.wait(rank);
      const std::string said = ranks.said_by(rank);
      if (rank == victim) {
        ASSERT_EQ(status, ExitStatus{.signal = SIGKILL}) << said;
        continue;
      }
      ASSERT_FALSE(status.signal) << "cycle " << cycle << ": " << status.text() << "\n" << said;
      ASSERT_TRUE(is_fine(said)) << "cycle " << cycle << ": " << said;
      if (status.code == 1) ++num_in_meeting;
    }
  }
  fmt::print("{} cycles; {} survivors were still meeting\n", num_cycles, num_in_meeting);
  EXPECT_EQ(num_own_descriptors(), descriptors);
  EXPECT_EQ(processes_with(word), std::vector<std::string>{});
  EXPECT_EQ(text_of("/proc/net/unix").find(word), std::string::npos) << "a socket name is still taken";
  for (const char* place : {"/tmp", "/dev/shm"}) EXPECT_EQ(num_entries(place, word), 0u) << place;
  // Other processes use shared memory, too; had every cycle left its arenas behind, this would be gigabytes.
  fmt::print("shared memory of the machine: {} KiB before, {} KiB after\n", shared, shared_kib());
  EXPECT_LT(shared_kib() - shared, 256 * 1024);
}

}  // namespace
}  // namespace cohort::test
