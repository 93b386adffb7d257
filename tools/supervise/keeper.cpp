#include "supervise/keeper.h"

#include "base/system_error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace cohort::supervise {
namespace {

// Signals to this process shall be handled by its other threads.
void block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

int send_signal(int pidfd, int number) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0U));
}

}  // namespace

Result<std::unique_ptr<Keeper>> Keeper::start(SpawnPlan plan, KeeperTasks tasks) {
  std::unique_ptr<Keeper> keeper(new Keeper(std::move(tasks)));
  Keeper& self = *keeper;
  self.group_ = plan.group;
  self.release_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (!self.release_.is_open()) return system_error("cannot make a descriptor for events", errno);
  try {
    self.thread_ = std::thread([&self, kept = std::move(plan)]() mutable { self.run(std::move(kept)); });
  } catch (const std::system_error& failure) {
    return system_error("cannot start the thread that accompanies a process", failure.code().value());
  }
  std::unique_lock lock(self.mutex_);
  self.changed_.wait(lock, [&self] { return self.started_.has_value(); });
  COHORT_RETURN_IF_ERROR(*self.started_);
  lock.unlock();
  return keeper;
}

Keeper::Keeper(KeeperTasks tasks)
    : output_{std::move(tasks.output), {}},
      error_output_{std::move(tasks.error_output), {}},
      on_end_(std::move(tasks.on_end)) {}

Keeper::~Keeper() {
  if (pidfd_.is_open()) send_signal(pidfd_.number(), SIGKILL);
  if (release_.is_open()) ::eventfd_write(release_.number(), 1);
  if (thread_.joinable()) thread_.join();
}

std::optional<Result<ExitStatus>> Keeper::wait(TimePoint deadline, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, std::move(stop), deadline, [this] { return ended_.has_value(); });
  return ended_;
}

std::optional<TimePoint> Keeper::ended_at() const {
  const std::lock_guard lock(mutex_);
  return ended_at_;
}

Result<bool> Keeper::signal(int number) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;  // the process may be a zombie, to which the kernel would accept a signal
  }
  if (send_signal(pidfd_.number(), number) == 0) return true;
  if (errno == ESRCH) return false;
  return system_error("cannot send a signal", errno);
}

CapturedOutput Keeper::output() const {
  const std::lock_guard lock(mutex_);
  return output_.captured;
}

CapturedOutput Keeper::error_output() const {
  const std::lock_guard lock(mutex_);
  return error_output_.captured;
}

void Keeper::run(SpawnPlan plan) noexcept {
  block_all_signals();
  const Status started = begin(plan);
  plan = SpawnPlan{};  // closes the child's ends of the pipes, so that reading sees their end
  {
    const std::lock_guard lock(mutex_);
    started_ = started;
  }
  changed_.notify_all();
  if (!started) return;

  read_until(pidfd_);
  const TimePoint noticed = std::chrono::steady_clock::now();
  drain(output_);
  drain(error_output_);
  const auto status = learn_end(group_ == ProcessGroup::kOwn ? Reap::kLater : Reap::kNow);
  {
    const std::lock_guard lock(mutex_);
    ended_ = status;
    ended_at_ = noticed;
  }
  changed_.notify_all();
  if (on_end_) on_end_();
  if (group_ == ProcessGroup::kOwn) end_group();
}

// Descendants of the child may still run and write until the destructor asks for their end.
void Keeper::end_group() noexcept {
  read_until(release_);
  ::kill(-pid_, SIGKILL);
  drain(output_);
  drain(error_output_);
  [[maybe_unused]] const auto known = learn_end(Reap::kNow);
}

Status Keeper::begin(const SpawnPlan& plan) {
  COHORT_ASSIGN_OR_RETURN(pid_, spawn(plan));
  pidfd_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U)));
  if (pidfd_.is_open()) return {};
  const int reason = errno;
  // The kernel has already reaped the child, which happens where SIGCHLD is ignored. Its number may belong to
  // another process now, so it must not be killed.
  if (reason == ESRCH) {
    return system_error("cannot watch the new process", reason)
        .with_remedy("Do not ignore SIGCHLD in the program that starts it.");
  }
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  return system_error("cannot watch the new process", reason);
}

void Keeper::read_until(const Descriptor& event) noexcept {
  constexpr std::size_t kPieceBytes = 1 << 16;
  while (true) {
    std::array<pollfd, 3> sources{{{event.number(), POLLIN, 0},
                                   {output_.source.reading.number(), POLLIN, 0},
                                   {error_output_.source.reading.number(), POLLIN, 0}}};
    if (::poll(sources.data(), sources.size(), -1) < 0) continue;
    if (sources[0].revents != 0) return;
    if (sources[1].revents != 0) read_once(output_, kPieceBytes);
    if (sources[2].revents != 0) read_once(error_output_, kPieceBytes);
  }
}

// All output of the ended child is in the pipe already. Output of its descendants is read later, and only if
// the child has its own group.
void Keeper::drain(Stream& stream) noexcept {
  int waiting_bytes = 0;
  if (stream.source.reading.is_open()) ::ioctl(stream.source.reading.number(), FIONREAD, &waiting_bytes);
  auto left = static_cast<std::size_t>(std::max(waiting_bytes, 0));
  while (left > 0) {
    const std::size_t count = read_once(stream, left);
    if (count == 0) break;
    left -= count;
  }
  if (group_ == ProcessGroup::kOurs) stream.source.reading.close();
}

std::size_t Keeper::read_once(Stream& stream, std::size_t limit_bytes) noexcept {
  std::array<char, 1 << 16> piece;  // NOLINT: filled by read
  const ssize_t count =
      ::read(stream.source.reading.number(), piece.data(), std::min(limit_bytes, piece.size()));
  if (count <= 0) {
    if (count == 0 || errno != EINTR) stream.source.reading.close();
    return 0;
  }
  const auto size_bytes = static_cast<std::size_t>(count);
  if (stream.source.take) {
    stream.source.take({piece.data(), size_bytes});
    return size_bytes;
  }
  const std::lock_guard lock(mutex_);
  stream.captured.append({piece.data(), size_bytes}, stream.source.cap_bytes);
  return size_bytes;
}

Result<ExitStatus> Keeper::learn_end(Reap reap) {
  const int options = reap == Reap::kNow ? WEXITED : WEXITED | WNOWAIT;
  siginfo_t info{};
  int failed = 0;
  do {
    failed = ::waitid(P_PID, static_cast<id_t>(pid_), &info, options);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) {
    return system_error("cannot read the exit status of the process", errno)
        .with_remedy("Do not ignore SIGCHLD and do not wait for all children in the program that starts it.");
  }
  if (info.si_code == CLD_EXITED) return ExitStatus{.code = info.si_status};
  return ExitStatus{.signal = info.si_status};
}

}  // namespace cohort::supervise
