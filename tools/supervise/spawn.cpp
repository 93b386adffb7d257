#include "supervise/spawn.h"

#include "base/system_error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cohort::supervise {
namespace {

// Everything that the child needs, in the form that system calls take.
struct Prepared {
  std::vector<std::string> programs;     // the paths to try, in this order
  std::vector<std::string> assignments;  // NAME=value
  std::vector<char*> argv;
  std::vector<char*> envp;
  const char* working_directory = nullptr;
  std::array<int, 3> streams{};
  int passed_on = -1;
  bool die_with_parent = true;
  bool core_dumps = true;
  ProcessGroup group = ProcessGroup::kOurs;
  std::vector<unsigned long> core_mask;  // empty: unchanged
  pid_t parent = 0;
  int report = -1;
};

std::vector<std::string> paths_to_try(const SpawnPlan& plan) {
  const std::string& program = plan.argv.front();
  if (program.find('/') != std::string::npos) return {program};
  const auto path = plan.environment.find("PATH");
  std::string_view rest = "/usr/local/bin:/usr/bin:/bin";
  if (path != plan.environment.end()) rest = path->second;
  std::vector<std::string> paths;
  while (true) {
    const auto end = rest.find(':');
    const std::string_view folder = rest.substr(0, end);
    paths.push_back(fmt::format("{}/{}", folder.empty() ? "." : folder, program));
    if (end == std::string_view::npos) return paths;
    rest.remove_prefix(end + 1);
  }
}

Status refuse_what_exec_cannot_carry(const SpawnPlan& plan) {
  if (plan.argv.empty() || plan.argv.front().empty()) {
    return Error(ErrorCode::kUsage, "no program was given");
  }
  for (const std::string& argument : plan.argv) {
    if (argument.find('\0') != std::string::npos) {
      return Error(ErrorCode::kUsage, "an argument of a program contains a zero byte");
    }
  }
  if (std::any_of(plan.cores.begin(), plan.cores.end(), [](int core) { return core < 0; })) {
    return Error(ErrorCode::kUsage, "the number of a core is negative");
  }
  for (const auto& [name, value] : plan.environment) {
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos ||
        value.find('\0') != std::string::npos) {
      return Error(ErrorCode::kUsage, fmt::format("'{}' cannot be set as an environment variable", name));
    }
  }
  return {};
}

std::vector<unsigned long> mask_of(const std::vector<int>& cores) {
  constexpr std::size_t kBits = 8 * sizeof(unsigned long);
  std::vector<unsigned long> mask;
  for (const int core : cores) {
    const auto bit = static_cast<std::size_t>(core);
    if (mask.size() <= bit / kBits) mask.resize(bit / kBits + 1);
    mask[bit / kBits] |= 1UL << (bit % kBits);
  }
  return mask;
}

// The result contains pointers into itself and into `plan`.
void prepare(const SpawnPlan& plan, Prepared& prepared) {
  prepared.programs = paths_to_try(plan);
  for (const auto& [name, value] : plan.environment) {
    prepared.assignments.push_back(fmt::format("{}={}", name, value));
  }
  for (const std::string& argument : plan.argv) prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  for (std::string& assignment : prepared.assignments) prepared.envp.push_back(assignment.data());
  prepared.argv.push_back(nullptr);
  prepared.envp.push_back(nullptr);
  if (plan.working_directory) prepared.working_directory = plan.working_directory->c_str();
  prepared.streams = {plan.input.number(), plan.output.number(), plan.error_output.number()};
  prepared.passed_on = plan.passed_on.number();
  prepared.die_with_parent = plan.die_with_parent;
  prepared.core_dumps = plan.core_dumps;
  prepared.group = plan.group;
  prepared.core_mask = mask_of(plan.cores);
  prepared.parent = ::getpid();
}

// From here to become_program() the code runs in the child of a fork: only async-signal-safe calls.

[[noreturn]] void refuse(const Prepared& prepared, Step step, int reason) noexcept {
  const Refusal refusal{step, reason};
  [[maybe_unused]] const ssize_t written = ::write(prepared.report, &refusal, sizeof refusal);
  ::_exit(127);
}

void forget_signals() noexcept {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void connect_streams(const Prepared& prepared) noexcept {
  for (int target = 0; target < 3; ++target) {
    if (::dup2(prepared.streams[static_cast<std::size_t>(target)], target) < 0) {
      refuse(prepared, Step::kStreams, errno);
    }
  }
  unsigned first_other = kPassedOn;
  if (prepared.passed_on >= 0) {
    if (::dup2(prepared.passed_on, kPassedOn) < 0) refuse(prepared, Step::kStreams, errno);
    ++first_other;
  }
  if (::syscall(SYS_close_range, first_other, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
    refuse(prepared, Step::kStreams, errno);
  }
}

int try_programs(const Prepared& prepared) noexcept {
  int reason = ENOENT;
  for (const std::string& program : prepared.programs) {
    ::execve(program.c_str(), prepared.argv.data(), prepared.envp.data());
    if (errno == EACCES) reason = EACCES;
    if (errno != EACCES && errno != ENOENT && errno != ENOTDIR) return errno;
  }
  return reason;
}

// The raw system call, because the wrapper of the C library takes a set of fixed size.
void take_cores(const Prepared& prepared) noexcept {
  const auto& mask = prepared.core_mask;
  if (mask.empty()) return;
  if (::syscall(SYS_sched_setaffinity, 0, mask.size() * sizeof(unsigned long), mask.data()) != 0) {
    refuse(prepared, Step::kCores, errno);
  }
}

[[noreturn]] void become_program(const Prepared& prepared) noexcept {
  forget_signals();
  if (prepared.die_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != prepared.parent) refuse(prepared, Step::kParentGone, ESRCH);
  }
  if (prepared.group == ProcessGroup::kOwn && ::setpgid(0, 0) != 0) refuse(prepared, Step::kGroup, errno);
  take_cores(prepared);
  if (prepared.working_directory != nullptr && ::chdir(prepared.working_directory) != 0) {
    refuse(prepared, Step::kDirectory, errno);
  }
  const rlimit none{0, 0};
  if (!prepared.core_dumps && ::setrlimit(RLIMIT_CORE, &none) != 0) refuse(prepared, Step::kLimits, errno);
  connect_streams(prepared);
  refuse(prepared, Step::kExec, try_programs(prepared));
}

// Empty after a successful exec, which closes the pipe.
std::optional<Refusal> read_refusal(int report) {
  Refusal refusal{};
  ssize_t count = 0;
  do {
    count = ::read(report, &refusal, sizeof refusal);
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(sizeof refusal)) return refusal;
  return std::nullopt;
}

// The child starts with every signal blocked, so that no handler of this process runs in it.
pid_t fork_quietly(const Prepared& prepared) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) become_program(prepared);
  const int reason = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = reason;
  return child;
}

Result<pid_t> fork_and_listen(const SpawnPlan& plan) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  const Descriptor reading(ends[0]);
  Descriptor writing(::fcntl(ends[1], F_DUPFD_CLOEXEC, kPassedOn + 1));
  const int reason = errno;
  ::close(ends[1]);
  if (!writing.is_open()) return system_error("cannot make a pipe", reason);

  Prepared prepared;
  prepare(plan, prepared);
  prepared.report = writing.number();
  const pid_t child = fork_quietly(prepared);
  if (child < 0) return system_error("cannot fork a process", errno);
  writing.close();
  const auto refusal = read_refusal(reading.number());
  if (!refusal) return child;
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  return refusal_error(plan, *refusal);
}

}  // namespace

Result<pid_t> spawn(const SpawnPlan& plan) {
  COHORT_RETURN_IF_ERROR(refuse_what_exec_cannot_carry(plan));
  return fork_and_listen(plan).within(fmt::format("cannot start '{}'", plan.argv.front()));
}

}  // namespace cohort::supervise
