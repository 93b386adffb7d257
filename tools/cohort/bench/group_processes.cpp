#include "bench/group_processes.h"

#include "base/clock.h"
#include "base/system_error.h"
#include "base/units.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace cohort::tool {
namespace {

using namespace std::chrono_literals;

constexpr auto kPeersGrace = 5s;

// The kernel writes `Name:   123 kB`.
Result<std::uint64_t> bytes_at(const std::string& file, std::string_view name) {
  LocalFileSystem files;
  COHORT_ASSIGN_OR_RETURN(const std::string text, read_file(files, file));
  const std::string key = fmt::format("\n{}:", name);
  const auto begin = text.find(key);
  if (begin == std::string::npos) {
    return Error(ErrorCode::kNotFound, fmt::format("the line {} is missing in '{}'", name, file));
  }
  const auto digits = text.find_first_not_of(" \t", begin + key.size());
  std::uint64_t kibibytes = 0;
  if (digits == std::string::npos ||
      std::from_chars(text.data() + digits, text.data() + text.size(), kibibytes).ec != std::errc()) {
    return Error(ErrorCode::kCorrupt, fmt::format("the line {} of '{}' has no number", name, file));
  }
  return kibibytes * 1024;
}

// The memory of a running process, from /proc.
Result<MemoryUse> memory_of(pid_t process) {
  MemoryUse use;
  COHORT_ASSIGN_OR_RETURN(use.peak_bytes, bytes_at(fmt::format("/proc/{}/status", process), "VmHWM"));
  COHORT_ASSIGN_OR_RETURN(use.proportional_bytes,
                          bytes_at(fmt::format("/proc/{}/smaps_rollup", process), "Pss"));
  return use;
}

std::string last_lines(const std::string& text) {
  constexpr std::size_t kKeptBytes = 600;
  const std::string tail = text.size() > kKeptBytes ? text.substr(text.size() - kKeptBytes) : text;
  return tail.substr(0, tail.find_last_not_of(" \n") + 1);
}

// One thread per rank, so that ranks × threads do not exceed the cores.
std::map<std::string, std::string> group_environment(const std::string& control) {
  return {{measure::kControlVariable, control},
          {"OMP_NUM_THREADS", "1"},
          {"MKL_NUM_THREADS", "1"},
          {"OPENBLAS_NUM_THREADS", "1"},
          {"GLOO_SOCKET_IFNAME", "lo"}};
}

Error with_remedy_of(const GroupStart& group, const Error& error) {
  return group.remedy.empty() ? error : error.with_remedy(group.remedy);
}

// Absolute, so that a process with another working directory finds it.
Result<std::string> new_shared_folder(const std::optional<std::string>& wished) {
  std::error_code failure;
  const auto parent =
      wished ? std::filesystem::absolute(*wished, failure) : std::filesystem::temp_directory_path(failure);
  if (failure) return system_error("cannot find the directory for temporary files", failure.value());
  std::string path = (parent / "cohort-bench-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    return system_error(fmt::format("cannot create the folder '{}'", path), errno);
  }
  return path;
}

// Signals end this process and, through its children's parent death signal, the benchmark.
[[noreturn]] void leave_at_once(const std::string& folder, int signal) {
  constexpr int kSignalBase = 128;
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  ::_exit(kSignalBase + signal);
}

}  // namespace

GroupProcesses::Folder::~Folder() {
  std::error_code ignored;
  if (!path.empty()) std::filesystem::remove_all(path, ignored);
}

GroupProcesses::GroupProcesses(measure::Controller controller, Folder folder,
                               std::unique_ptr<SignalWatch> watch)
    : controller_(std::move(controller)), folder_(std::move(folder)), watch_(std::move(watch)) {}

Result<GroupProcesses> GroupProcesses::open(const std::optional<std::string>& parent) {
  COHORT_ASSIGN_OR_RETURN(measure::Controller controller, measure::Controller::open());
  COHORT_ASSIGN_OR_RETURN(const std::string path, new_shared_folder(parent));
  Folder folder(path);
  COHORT_ASSIGN_OR_RETURN(auto watch,
                          SignalWatch::start([path](int signal) { leave_at_once(path, signal); }));
  return GroupProcesses(std::move(controller), std::move(folder), std::move(watch));
}

GroupProcesses::~GroupProcesses() {
  controller_.end();
  while (!processes_.empty()) end(std::string(processes_.begin()->first));
}

TimePoint GroupProcesses::deadline_of(std::chrono::nanoseconds limit) {
  return deadline_after(std::chrono::steady_clock::now(), limit);
}

Status GroupProcesses::start(GroupStart group) {
  const std::string doing = fmt::format("cannot start the group '{}'", group.name);
  for (MemberStart& member : group.members) {
    auto environment = group_environment(controller_.name());
    environment.merge(member.environment);
    auto process =
        Process::start({.argv = std::move(member.argv), .extra_environment = std::move(environment)});
    if (!process) return with_remedy_of(group, process.error().within(doing));
    processes_[group.name].push_back(*std::move(process));
  }
  const auto reported = controller_.await(group.name, group.ranks, deadline_of(group.limit),
                                          [&] { return still_alive(group); });
  if (reported) return {};
  return reported.error().within(doing);
}

void GroupProcesses::end(const std::string& group) {
  controller_.end(group);
  const TimePoint deadline = deadline_of(kPeersGrace);
  for (Process& process : processes_[group]) {
    if (process.wait(deadline)) continue;
    static_cast<void>(process.terminate(0s));
  }
  processes_.erase(group);
}

Status GroupProcesses::still_alive(const GroupStart& group) {
  for (Process& process : processes_[group.name]) {
    COHORT_ASSIGN_OR_RETURN(const auto ended, process.poll());
    if (!ended) continue;
    const Error error(ErrorCode::kPeerLost,
                      fmt::format("a process of '{}' {} before its greeting: {}", group.name, ended->text(),
                                  last_lines(process.error_output().text)));
    return with_remedy_of(group, error);
  }
  return {};
}

Error GroupProcesses::with_last_words(const Error& error, const std::string& group) {
  // A connection ends a moment before its process does, so the process is waited for.
  const TimePoint deadline = deadline_of(error.code() == ErrorCode::kPeerLost ? 1s : 0s);
  std::string words;
  for (Process& process : processes_[group]) {
    const auto ended = process.wait(deadline);
    const std::string wrote = last_lines(process.error_output().text);
    if (ended && !ended->is_success()) words += fmt::format(" (process {} {})", process.pid(), ended->text());
    if (!wrote.empty()) words += fmt::format(" (its last output: {})", wrote);
    if (!words.empty()) break;
  }
  return error.within(fmt::format("the group '{}' failed{}", group, words));
}

Result<std::vector<MemoryUse>> GroupProcesses::memory(const std::string& group) const {
  std::vector<MemoryUse> uses;
  const auto found = processes_.find(group);
  if (found == processes_.end()) return uses;
  for (const Process& process : found->second) {
    COHORT_ASSIGN_OR_RETURN(uses.emplace_back(), memory_of(process.pid()));
  }
  return uses;
}

}  // namespace cohort::tool
