#pragma once

#include "task.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <tuple>
#include <vector>

namespace c10d {
struct ProcessGroupStatus;
}

namespace cohort::c10d_plugin {

/// The entries of one group in torch's flight recorder, which `_dump_fr_trace_json()` and the debug server of
/// torch show. An entry has what Gloo's has: operation, sequence numbers, shapes, timeout, the Python stack,
/// and whether the operation has ended.
///
/// Threads: every method from any thread.
/// Failure: a torch without the functions that flight_recorder.cpp looks for gets no entries.
/// Cost: 2 µs for each call, most of it for the Python stack; the first group of a process searches for tens of
/// milliseconds. Nothing if TORCH_FR_BUFFER_SIZE is 0.
class FlightRecorder : public std::enable_shared_from_this<FlightRecorder> {
 public:
  /// One call of the group.
  struct Item {
    const Task& task;
    const char* title;
    std::uint64_t number;  ///< the group's sequence number
    std::chrono::milliseconds limit;
  };

  /// `ranks`: the members of the group, as ranks of the whole job.
  explicit FlightRecorder(std::vector<std::uint64_t> ranks);

  /// Whether this torch records, and has the functions.
  static bool is_recording();
  /// Adds an entry. The result must be called when the operation has ended; it is empty if no entry was
  /// added.
  std::function<void()> record(const ::c10d::Backend& group, const Item& item);

 private:
  const std::size_t group_id_;
  const std::shared_ptr<::c10d::ProcessGroupStatus> status_;
  std::atomic<std::uint64_t> num_collectives_ = 0;
  std::atomic<std::uint64_t> num_messages_ = 0;
  const std::vector<std::uint64_t> ranks_;
  std::once_flag named_;
  std::tuple<std::string, std::string> name_;  // set by the first call: torch names a group after making it
};

}  // namespace cohort::c10d_plugin
