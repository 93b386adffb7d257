#include "bench/bench_groups.h"

#include "base/system_error.h"
#include "base/units.h"
#include "bench/bench_communicator.h"
#include "bench/gloo_script.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <thread>

namespace cohort::tool {
namespace {

using namespace std::chrono_literals;

constexpr const char* kOurs = "cohort";
constexpr auto kGrace = 5s;
constexpr const char* kSetUp = "`dev/setup bench` installs what the peers need; build again afterwards.";

TimePoint after(std::chrono::nanoseconds limit) {
  return deadline_after(std::chrono::steady_clock::now(), limit);
}

std::string last_lines(const std::string& text) {
  constexpr std::size_t kKeptBytes = 600;
  const std::string tail = text.size() > kKeptBytes ? text.substr(text.size() - kKeptBytes) : text;
  return tail.substr(0, tail.find_last_not_of(" \n") + 1);
}

std::string chosen_python(const std::optional<std::string>& wished) {
  if (wished) return *wished;
  const std::filesystem::path own = std::filesystem::path(kBuildVenv) / "bin/python3";
  std::error_code ignored;
  return std::filesystem::exists(own, ignored) ? own.string() : "python3";
}

Result<std::vector<std::string>> mpirun_line(const Session& session, int ranks) {
  const auto peer = std::filesystem::path(session.program).parent_path() / "cohort-bench-openmpi";
  std::error_code ignored;
  if (!std::filesystem::exists(peer, ignored)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("the peer openmpi was not built: there is no '{}'", peer.string()))
        .with_remedy(kSetUp);
  }
  const bool fits = ranks <= static_cast<int>(std::thread::hardware_concurrency());
  return std::vector<std::string>{
      "mpirun",     "--allow-run-as-root",  "--oversubscribe", "-np", std::to_string(ranks),
      "--bind-to",  fits ? "core" : "none", "--mca",           "btl", "self,vader",
      peer.string()};
}

// Ranks × threads stay within the cores: one thread each.
std::map<std::string, std::string> group_environment(const std::string& control) {
  return {{measure::kControlVariable, control},
          {"OMP_NUM_THREADS", "1"},
          {"MKL_NUM_THREADS", "1"},
          {"OPENBLAS_NUM_THREADS", "1"},
          {"GLOO_SOCKET_IFNAME", "lo"}};
}

}  // namespace

std::optional<measure::ContenderName> contender_named(const std::string& word) {
  const auto kinds = bench_kinds();
  if (std::find(kinds.begin(), kinds.end(), word) != kinds.end()) {
    return measure::ContenderName{.group = kOurs, .kind = word};
  }
  const auto names = contender_names();
  if (std::find(names.begin(), names.end(), word) == names.end()) return std::nullopt;
  return measure::ContenderName{.group = word, .kind = word};
}

std::vector<std::string> contender_names() {
  auto names = bench_kinds();
  names.insert(names.end(), {"memcpy", "openmpi", "gloo", "gloo_pinned"});
  return names;
}

BenchGroups::Folder::~Folder() {
  std::error_code ignored;
  if (!path.empty()) std::filesystem::remove_all(path, ignored);
}

BenchGroups::BenchGroups(const Session& session, GroupOptions options, measure::Controller controller,
                         Folder folder)
    : session_(&session),
      options_(std::move(options)),
      controller_(std::move(controller)),
      folder_(std::move(folder)) {}

Result<BenchGroups> BenchGroups::open(const Session& session, GroupOptions options) {
  COHORT_ASSIGN_OR_RETURN(measure::Controller controller, measure::Controller::open());
  std::error_code failure;
  const auto parent = std::filesystem::temp_directory_path(failure);
  if (failure) return system_error("cannot find a place for temporary files", failure.value());
  std::string path = (parent / "cohort-bench-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr)
    return system_error(fmt::format("cannot make the folder '{}'", path), errno);
  return BenchGroups(session, std::move(options), std::move(controller), Folder(std::move(path)));
}

BenchGroups::~BenchGroups() {
  controller_.end();
  for (auto& [group, processes] : processes_) {
    const TimePoint deadline = after(kGrace);
    for (Process& process : processes) {
      if (process.wait(deadline)) continue;
      static_cast<void>(process.terminate(0s));
    }
  }
}

Result<std::vector<std::vector<std::string>>> BenchGroups::command_lines(const std::string& group) const {
  if (group == "openmpi") {
    COHORT_ASSIGN_OR_RETURN(auto line, mpirun_line(*session_, options_.ranks));
    return std::vector<std::vector<std::string>>{std::move(line)};
  }
  std::vector<std::vector<std::string>> lines;
  for (int rank = 0; rank < options_.ranks; ++rank) {
    const auto mine = std::to_string(rank);
    const auto all = std::to_string(options_.ranks);
    if (group.starts_with("gloo")) {
      lines.push_back({chosen_python(options_.python), "-c", gloo_script(), mine, all, folder_.path, group});
    } else {
      lines.push_back({session_->program, "bench-rank", group, mine, all, folder_.path});
      if (options_.pin) lines.back().push_back("--pin");
    }
  }
  return lines;
}

Status BenchGroups::start(const std::string& group) {
  const std::string doing = fmt::format("cannot start the group '{}'", group);
  COHORT_ASSIGN_OR_RETURN(auto lines, command_lines(group));
  for (auto& line : lines) {
    auto process =
        Process::start({.argv = std::move(line), .extra_environment = group_environment(controller_.name())});
    if (!process) {
      const Error error = process.error().within(doing);
      return group == kOurs ? error : error.with_remedy(kSetUp);
    }
    processes_[group].push_back(*std::move(process));
  }
  const auto reported = controller_.await(group, options_.ranks, after(options_.start_limit),
                                          [&] { return still_alive(group); });
  if (reported) return {};
  return reported.error().within(doing);
}

Status BenchGroups::still_alive(const std::string& group) {
  for (Process& process : processes_[group]) {
    COHORT_ASSIGN_OR_RETURN(const auto ended, process.poll());
    if (!ended) continue;
    const Error error(ErrorCode::kPeerLost,
                      fmt::format("a process of '{}' {} before it had reported: {}", group, ended->text(),
                                  last_lines(process.error_output().text)));
    return group == kOurs || group == "memcpy" ? error : error.with_remedy(kSetUp);
  }
  return {};
}

Error BenchGroups::with_last_words(const Error& error, const std::string& group) {
  // A connection ends a moment before its process does.
  const TimePoint deadline = after(error.code() == ErrorCode::kPeerLost ? 1s : 0s);
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

Result<std::vector<double>> BenchGroups::run(const measure::ContenderName& contender,
                                             const measure::RunCommand& command) {
  auto samples = controller_.run(contender.group, command, after(options_.run_limit));
  if (samples || samples.error().code() == ErrorCode::kUnsupported) return samples;
  return with_last_words(samples.error(), contender.group);
}

}  // namespace cohort::tool
