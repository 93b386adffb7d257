#pragma once

#include "comm/shared_memory/communicator.h"
#include "processes/roles.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Ranks as processes that connect through shared memory, and operations of tests on them.
namespace cohort::test {

/// Arguments of the ranks of one world.
struct RankSettings {
  std::string rendezvous{};
  int world = 2;
  std::chrono::milliseconds liveness{500};
  std::chrono::milliseconds meeting_limit{15'000};
  std::string task{};  ///< what a rank does once it has connected; see tasks.cpp
  std::string detail{};
};

/// The processes of one world.
///
/// Lifetime: the destructor kills and reaps those that still run.
class Ranks {
 public:
  explicit Ranks(const RankSettings& settings);

  Process& operator[](int rank) { return processes_[static_cast<std::size_t>(rank)]; }
  int size() const { return static_cast<int>(processes_.size()); }
  /// Waits until this rank has written the line; throws if the rank ends before, or takes too long.
  void wait_for_line(int rank, const std::string& line);
  /// Waits for the end of this rank and returns its exit status.
  ExitStatus wait(int rank);
  /// The output of this rank, of both streams.
  std::string said_by(int rank);

 private:
  std::vector<Process> processes_;
};

/// A rendezvous name that no other test uses.
std::string fresh_rendezvous();

/// Nanoseconds of a clock that all processes of the machine share.
std::int64_t now_ns();

/// The number after `key=` in the output of a rank; throws if there is none.
std::int64_t number_in(const std::string& text, const std::string& key);

/// The roles of this test program: `rank`.
Roles shared_memory_roles();

}  // namespace cohort::test
