#pragma once

#include "base/clock.h"
#include "base/result.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace cohort::comm {

/// A member that takes no part in a generation any more, as far as this process knows.
struct Loss {
  enum class Kind {
    kLeft,    ///< it said farewell
    kGone,    ///< its process has ended, as the kernel says
    kSilent,  ///< nothing comes from it: its process may still run
  };
  int member = 0;
  Kind kind = Kind::kSilent;

  bool operator==(const Loss&) const = default;
};

/// Whether the other members of a group are told of its end as of a failure, or see this member leave.
enum class Ending { kTold, kQuiet };

/// Everything below the groups of one generation in this process: connections, threads, and the knowledge
/// which members are lost.
///
/// Threads: every method from any thread; close() once.
/// Lifetime: shared by the groups of the generation, which stay valid objects after close().
class Engine {
 public:
  virtual ~Engine() = default;

  /// Fails every group of the generation, here and at its other members. Does not wait.
  virtual void end(const Error& why) = 0;
  /// Leaves the generation: fails every group here, stops threads and closes connections. The other members
  /// see this one leave: their calls that it has done its part in still end well. No memory of a call is
  /// touched once this has returned. kTimedOut if a call on another thread has not ended by `deadline`.
  virtual Status close(const Error& why, TimePoint deadline) = 0;
  /// The members that are lost or have left, by their numbers in the generation.
  virtual std::vector<Loss> losses() const = 0;
};

/// Whether the world has formed a later generation than that of a group.
///
/// Threads: every method from any thread; later() costs one load.
class GenerationEnd {
 public:
  /// The world is at this generation from now on.
  void pass_to(std::uint32_t later) { later_.store(later, std::memory_order_release); }
  /// The generation of the world, if it is a later one.
  std::optional<std::uint32_t> later() const {
    const std::uint32_t later = later_.load(std::memory_order_acquire);
    return later == 0 ? std::nullopt : std::optional(later);
  }

 private:
  std::atomic<std::uint32_t> later_{0};  // 0 is never a later generation
};

}  // namespace cohort::comm
