#include "bench/group_processes.h"

#include "base/clock.h"
#include "base/system_error.h"
#include "base/units.h"
#include "bench/process_memory.h"

#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace cohort::tool {
namespace {

using namespace std::chrono_literals;

constexpr auto kGrace = 5s;

std::string last_lines(const std::string& text) {
  constexpr std::size_t kKeptBytes = 600;
  const std::string tail = text.size() > kKeptBytes ? text.substr(text.size() - kKeptBytes) : text;
  return tail.substr(0, tail.find_last_not_of(" \n") + 1);
}

// Ranks × threads stay within the cores: one thread each.
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

// The processes of the bench end with this one.
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

Result<GroupProcesses> GroupProcesses::open() {
  COHORT_ASSIGN_OR_RETURN(measure::Controller controller, measure::Controller::open());
  std::error_code failure;
  const auto parent = std::filesystem::temp_directory_path(failure);
  if (failure) return system_error("cannot find a place for temporary files", failure.value());
  std::string path = (parent / "cohort-bench-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr)
    return system_error(fmt::format("cannot make the folder '{}'", path), errno);
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
  const TimePoint deadline = deadline_of(kGrace);
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
                      fmt::format("a process of '{}' {} before it had reported: {}", group.name,
                                  ended->text(), last_lines(process.error_output().text)));
    return with_remedy_of(group, error);
  }
  return {};
}

Error GroupProcesses::with_last_words(const Error& error, const std::string& group) {
  // A connection ends a moment before its process does.
  const TimePoint deadline = deadline_of(error.code() == ErrorCode::kPeerLost ? 1s : 0s);
  std::string words;
  for (Process& process : processes_[group]) {
    const auto ended = process.wait(deadline);
    const std::string wrote = last_lines(process.error_output().text);
    if (ended && !ended->is_success()) words += fmt::format(" (process {} {})", process.pid(), ended->text());
    if (!wrote.empty()) words += fmt::format(" (it wrote: {})", wrote);
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
