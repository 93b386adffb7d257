#include "bench/step_contenders.h"

#include "base/clock.h"
#include "bench/peer_scripts.h"
#include "run_job.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "supervise/process.h"

#include <condition_variable>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <span>

namespace cohort::tool {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstStepLimit = 120s;

// Reads the output of a program until a mark appears.
class MarkWatch {
 public:
  explicit MarkWatch(std::string mark) : mark_(std::move(mark)) {}

  void take(std::string_view piece) {
    const TimePoint now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    text_ += piece;
    if (!seen_ && text_.find(mark_) != std::string::npos) seen_ = now;
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  /// The time of the mark; empty if the program ended without it, or at the deadline.
  std::optional<TimePoint> wait(TimePoint deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return seen_ || ended_; });
    return seen_;
  }
  std::string last_words() {
    constexpr std::size_t kKeptBytes = 600;
    const std::lock_guard lock(mutex_);
    return text_.size() > kKeptBytes ? text_.substr(text_.size() - kKeptBytes) : text_;
  }

 private:
  const std::string mark_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  std::optional<TimePoint> seen_;
  bool ended_ = false;
};

// The program prints the mark when its first step is done, and ends by itself after that step.
Result<std::chrono::nanoseconds> time_to_mark(std::vector<std::string> argv, const std::string& mark) {
  const std::string program = argv.front();
  MarkWatch watch(mark);
  const OutputToFunction to_watch{[&](std::string_view piece) { watch.take(piece); }};
  const TimePoint start = std::chrono::steady_clock::now();
  COHORT_ASSIGN_OR_RETURN(
      Process process,
      Process::start({.argv = std::move(argv),
                      .extra_environment = {{"OMP_NUM_THREADS", "1"}, {"GLOO_SOCKET_IFNAME", "lo"}},
                      .output = to_watch,
                      .error_output = to_watch,
                      .group = ProcessGroup::kOwn,
                      .on_end = [&] { watch.end(); }}));
  const auto seen = watch.wait(start + kFirstStepLimit);
  if (!seen) {
    return Error(ErrorCode::kTimedOut, fmt::format("'{}' ended before its first step; its last output: {}",
                                                   program, watch.last_words()));
  }
  COHORT_RETURN_IF_ERROR(process.wait(start + 2 * kFirstStepLimit));
  return *seen - start;
}

}  // namespace

Result<std::chrono::nanoseconds> our_first_step(const StepCell& cell, const Session& session,
                                                const std::string& folder) {
  LocalFileSystem files;
  const std::string job = folder + "/job.toml";
  COHORT_RETURN_IF_ERROR(write_file_atomically(files, job, std::as_bytes(std::span(cell.model.job))));
  const int batch = cell.batch * cell.ranks;
  std::vector<std::string> argv{session.program, "train", job,      "-n", std::to_string(cell.ranks),
                                "--threads",     "1",     "--json", "-v"};
  for (const std::string& setting :
       {fmt::format("data.samples={}", 2 * batch), std::string("data.test_samples=0"),
        fmt::format("train.batch_size={}", batch), std::string("train.steps=1"),
        fmt::format("train.directory=\"{}/run\"", folder),
        fmt::format("optimizer.name=\"{}\"", cell.model.optimizer),
        fmt::format("optimizer.learning_rate={}", cell.model.learning_rate)}) {
    argv.insert(argv.end(), {"--set", setting});
  }
  return time_to_mark(std::move(argv), "the first step is done");
}

Result<std::chrono::nanoseconds> torch_first_step(const StepCell& cell, const StepPeers& peers,
                                                  const std::string& folder) {
  COHORT_RETURN_IF_ERROR(write_peer_scripts(folder));
  std::vector<std::string> argv{peer_python(peers.python),
                                "-m",
                                "torch.distributed.run",
                                "--standalone",
                                "--nproc-per-node",
                                std::to_string(cell.ranks),
                                folder + "/torch_step.py",
                                "--ddp",
                                "--steps",
                                "1"};
  const std::vector<std::string> told = torch_step_arguments(cell, peers);
  argv.insert(argv.end(), told.begin(), told.end());
  if (!cell.model.spec.empty()) argv.insert(argv.end(), {"--spec", cell.model.spec});
  return time_to_mark(std::move(argv), "\"step\": 1");
}

}  // namespace cohort::tool
