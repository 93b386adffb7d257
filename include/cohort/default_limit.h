#pragma once

#include <chrono>

namespace cohort {

/// Default timeouts of ranks that wait for each other. No wait is endless.
struct DefaultLimit {
  /// How long a call waits for the other ranks to make the same call.
  static constexpr std::chrono::nanoseconds kCall = std::chrono::seconds(30);
  /// How long a rank may be without a heartbeat before it counts as lost. A slow rank still has a heartbeat.
  static constexpr std::chrono::nanoseconds kLiveness = std::chrono::seconds(10);
  /// How long a rank may be without a heartbeat before a warning says so.
  static constexpr std::chrono::nanoseconds kSilence = std::chrono::milliseconds(500);
  /// How long a host may be unreachable before its ranks count as lost.
  static constexpr std::chrono::nanoseconds kLink = std::chrono::seconds(10);
  /// How long the rendezvous waits for all ranks to start.
  static constexpr std::chrono::nanoseconds kMeeting = std::chrono::seconds(30);
};

}  // namespace cohort
