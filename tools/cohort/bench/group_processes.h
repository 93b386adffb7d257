#pragma once

#include "base/result.h"
#include "measure/controller.h"
#include "signal_watch.h"
#include "supervise/process.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cohort::tool {

/// A program of a group.
struct MemberStart {
  std::vector<std::string> argv{};
  std::map<std::string, std::string> environment{};  ///< added to the environment of every participant
};

/// A group and the programs that are its ranks; one program may start several ranks.
struct GroupStart {
  std::string name{};
  int ranks = 1;
  std::vector<MemberStart> members{};
  std::string remedy{};  ///< if a program cannot be started; may be empty
  std::chrono::nanoseconds limit = std::chrono::seconds(60);  ///< until all ranks have reported
};

/// The memory of a rank process.
struct MemoryUse {
  std::uint64_t peak_bytes = 0;  ///< the highest resident size so far
  std::uint64_t proportional_bytes =
      0;  ///< resident now; a shared page counts in equal parts for all processes that share it
};

/// The processes of all groups of one benchmark: starts them, lets them work in turns, ends them. Each has
/// one compute thread.
///
/// Threads: one.
/// Lifetime: the destructor ends all processes and removes their shared folder; Ctrl-C does the same and ends
/// the tool.
/// Failure: names the rank or process, with its exit status and its last output.
class GroupProcesses {
 public:
  /// `parent` is where the shared folder is made: by default the folder for temporary files.
  static Result<GroupProcesses> open(const std::optional<std::string>& parent = std::nullopt);
  ~GroupProcesses();
  GroupProcesses(GroupProcesses&&) = default;
  GroupProcesses& operator=(GroupProcesses&&) = delete;

  /// The folder that all processes of this benchmark share.
  const std::string& folder() const { return folder_.path; }

  /// Starts the processes of a group and waits until all its ranks have reported.
  Status start(GroupStart group);
  /// Tells the processes of a group to end, and waits for them.
  void end(const std::string& group);
  template <class Command>
  Result<std::vector<double>> run(const std::string& group, const Command& command,
                                  std::chrono::nanoseconds limit) {
    auto samples = controller_.run(group, command, deadline_of(limit));
    if (samples || samples.error().code() == ErrorCode::kUnsupported) return samples;
    return with_last_words(samples.error(), group);
  }
  /// The memory of each process of a group.
  Result<std::vector<MemoryUse>> memory(const std::string& group) const;

 private:
  /// A temporary folder, removed by the destructor.
  struct Folder {
    std::string path{};

    explicit Folder(std::string made) : path(std::move(made)) {}
    ~Folder();
    Folder(Folder&& other) noexcept : path(std::exchange(other.path, {})) {}
    Folder& operator=(Folder&&) = delete;
  };

  GroupProcesses(measure::Controller controller, Folder folder, std::unique_ptr<SignalWatch> watch);
  static TimePoint deadline_of(std::chrono::nanoseconds limit);
  Status still_alive(const GroupStart& group);
  Error with_last_words(const Error& error, const std::string& group);

  measure::Controller controller_;
  Folder folder_;
  std::unique_ptr<SignalWatch> watch_;
  std::map<std::string, std::vector<Process>> processes_;
};

}  // namespace cohort::tool
