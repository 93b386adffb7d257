#include "supervise/process.h"

#include "base/check.h"
#include "base/system_error.h"
#include "base/units.h"
#include "launch/variable_reader.h"
#include "supervise/keeper.h"
#include "supervise/process_result.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace cohort {
namespace {

using supervise::StreamSource;

// The time that a process may need to disappear after SIGKILL.
constexpr std::chrono::seconds kVanishing(10);

// A copy whose number is above those that the program gets.
Result<Descriptor> copy_of(int descriptor) {
  Descriptor copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, supervise::kPassedOn + 1));
  if (!copy.is_open() && errno == EBADF) {
    return Error(ErrorCode::kUsage, fmt::format("descriptor {} is not open", descriptor));
  }
  if (!copy.is_open()) return system_error(fmt::format("cannot pass on descriptor {}", descriptor), errno);
  return copy;
}

Result<Descriptor> open_null(int flags) {
  const Descriptor null(::open("/dev/null", flags | O_CLOEXEC));
  if (!null.is_open()) return system_error("cannot open /dev/null", errno);
  return copy_of(null.number());
}

// The end that the program writes to. The end that we read from goes into `source` if the stream is captured.
Result<Descriptor> open_stream(const OutputChoice& choice, int ours, StreamSource& source) {
  if (const auto* chosen = std::get_if<OutputToDescriptor>(&choice)) return copy_of(chosen->descriptor);
  if (std::holds_alternative<InheritOutput>(choice)) {
    return ::fcntl(ours, F_GETFD) < 0 ? open_null(O_WRONLY) : copy_of(ours);
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  source.reading = Descriptor(ends[0]);
  if (const auto* capture = std::get_if<CaptureOutput>(&choice)) source.cap_bytes = capture->cap_bytes;
  if (const auto* function = std::get_if<OutputToFunction>(&choice)) source.take = function->take;
  const Descriptor writing(ends[1]);
  return copy_of(writing.number());
}

}  // namespace

Result<Process> Process::start(ProcessOptions options) {
  const std::string program = options.argv.empty() ? "" : options.argv.front();
  supervise::SpawnPlan plan{.argv = std::move(options.argv),
                            .working_directory = std::move(options.working_directory),
                            .die_with_parent = options.die_with_parent,
                            .core_dumps = options.core_dumps,
                            .group = options.group,
                            .cores = std::move(options.cores)};
  plan.environment = options.environment ? *std::move(options.environment) : own_environment();
  for (const auto& [name, value] : options.extra_environment) plan.environment[name] = value;

  StreamSource output;
  StreamSource error_output;
  COHORT_ASSIGN_OR_RETURN(plan.input, options.input ? copy_of(*options.input) : open_null(O_RDONLY));
  if (options.passed_on) {
    COHORT_ASSIGN_OR_RETURN(plan.passed_on, copy_of(*options.passed_on));
  }
  COHORT_ASSIGN_OR_RETURN(plan.output, open_stream(options.output, STDOUT_FILENO, output));
  COHORT_ASSIGN_OR_RETURN(plan.error_output, open_stream(options.error_output, STDERR_FILENO, error_output));
  COHORT_ASSIGN_OR_RETURN(auto keeper,
                          supervise::Keeper::start(std::move(plan), {.output = std::move(output),
                                                                     .error_output = std::move(error_output),
                                                                     .on_end = std::move(options.on_end)}));
  return Process(program, options.group, std::move(keeper));
}

Process::Process(std::string program, ProcessGroup group, std::unique_ptr<supervise::Keeper> keeper)
    : program_(std::move(program)), group_(group), keeper_(std::move(keeper)) {}

Process::~Process() = default;
Process::Process(Process&&) noexcept = default;
Process& Process::operator=(Process&&) noexcept = default;

pid_t Process::pid() const {
  return keeper_->pid();
}

std::string Process::described() const {
  return fmt::format("'{}' (process {})", program_, pid());
}

Result<ExitStatus> Process::wait(TimePoint deadline, const std::stop_token& stop) {
  if (auto ended = keeper_->wait(deadline, stop)) return std::move(*ended).within(described());
  if (stop.stop_requested()) {
    return Error(ErrorCode::kAborted, fmt::format("waiting for {} was cancelled", described()));
  }
  return Error(ErrorCode::kTimedOut, fmt::format("{} still runs at the deadline", described()));
}

Result<std::optional<ExitStatus>> Process::poll() {
  auto ended = keeper_->wait(TimePoint{}, {});
  if (!ended) return std::optional<ExitStatus>();
  COHORT_ASSIGN_OR_RETURN(const ExitStatus status, std::move(*ended).within(described()));
  return std::optional<ExitStatus>(status);
}

Status Process::signal(int number) {
  COHORT_ASSIGN_OR_RETURN(const bool sent, keeper_->signal(number).within(described()));
  if (!sent) return Error(ErrorCode::kNotFound, fmt::format("{} has already ended", described()));
  return {};
}

Result<ExitStatus> Process::terminate(std::chrono::nanoseconds grace) {
  for (const int number : {SIGTERM, SIGCONT}) COHORT_RETURN_IF_ERROR(keeper_->signal(number));
  auto asked = wait(deadline_after(std::chrono::steady_clock::now(), grace));
  if (asked || asked.error().code() != ErrorCode::kTimedOut) return asked;
  COHORT_RETURN_IF_ERROR(keeper_->signal(SIGKILL));
  auto killed = wait(deadline_after(std::chrono::steady_clock::now(), kVanishing));
  if (killed || killed.error().code() != ErrorCode::kTimedOut) return killed;
  return killed.error()
      .within(fmt::format("{} did not end {} after SIGKILL", described(), format_duration(kVanishing)))
      .with_remedy("It hangs in the operating system, most likely on a file system: see `ps -o stat,wchan`.");
}

Status Process::signal_group(int number) {
  COHORT_CHECK(group_ == ProcessGroup::kOwn, "only a process with its own group has a group to signal");
  if (::kill(-pid(), number) == 0 || errno == ESRCH || errno == EPERM) return {};
  return system_error(fmt::format("cannot send a signal to the group of {}", described()), errno);
}

std::optional<TimePoint> Process::ended_at() const {
  return keeper_->ended_at();
}

CapturedOutput Process::output() const {
  return keeper_->output();
}

CapturedOutput Process::error_output() const {
  return keeper_->error_output();
}

std::string ExitStatus::text() const {
  if (code) return fmt::format("exited with {}", *code);
  if (!signal) return "ended in an unknown way";
  const char* name = sigabbrev_np(*signal);
  if (name == nullptr) return fmt::format("was killed by signal {}", *signal);
  return fmt::format("was killed by signal {} (SIG{})", *signal, name);
}

}  // namespace cohort
