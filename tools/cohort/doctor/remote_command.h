#pragma once

#include "doctor/line_output.h"
#include "supervise/host_job.h"

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace cohort::tool {

/// A command that runs on one host.
///
/// Threads: a thread of its own calls the functions.
/// Lifetime: the destructor ends the command and waits for its end.
class RemoteCommand {
 public:
  /// `take` receives the lines that the command prints, `end` is called after the last one.
  RemoteCommand(HostJobPlan plan, std::function<void(const std::string& line)> take,
                std::function<void()> end)
      : output_([take = std::move(take)](int, const std::string& line) { take(line); }),
        job_(std::move(plan), output_),
        thread_([this, end = std::move(end)] {
          (void)job_.run();
          end();
        }) {}
  ~RemoteCommand() { end(); }
  RemoteCommand(const RemoteCommand&) = delete;
  RemoteCommand& operator=(const RemoteCommand&) = delete;

  /// Tells the command to end, without waiting.
  void end() { job_.interrupt(SIGTERM); }

 private:
  LineOutput output_;
  HostJob job_;
  std::jthread thread_;
};

}  // namespace cohort::tool
