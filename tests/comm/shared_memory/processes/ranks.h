#pragma once

#include "comm/shared_memory/communicator.h"
#include "processes/roles.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Ranks as processes that meet in shared memory, and what tests do to them.
namespace cohort::test {

/// What is said to the ranks of one world.
struct RankSettings {
  std::string rendezvous{};
  int world = 2;
  std::chrono::milliseconds liveness{500};
  std::chrono::milliseconds meeting_limit{15'000};
  std::string task{};  ///< what it does once it has met the others; see tasks.cpp
  std::string detail{};
};

/// The processes of one world.
///
/// Lifetime: the destructor kills and reaps those that still run.
class Ranks {
 public:
  explicit Ranks(const RankSettings& settings);

  Process& operator[](int rank) { return processes_[static_cast<std::size_t>(rank)]; }
  int world() const { return static_cast<int>(processes_.size()); }
  /// Waits until this rank has written the line; throws if it ends before, or takes too long.
  void wait_for_line(int rank, const std::string& line);
  /// How it ended.
  ExitStatus wait(int rank);
  /// What it wrote, to both streams.
  std::string said_by(int rank);

 private:
  std::vector<Process> processes_;
};

/// A name that no other test has.
std::string fresh_rendezvous();

/// Nanoseconds of the clock that all processes of a machine share.
std::int64_t now_ns();

/// The number behind `key=` in what a rank wrote; throws if there is none.
std::int64_t number_in(const std::string& text, const std::string& key);

/// The roles of this test program: `rank`.
Roles shared_memory_roles();

}  // namespace cohort::test
