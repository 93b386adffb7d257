#include "bench/bench_groups.h"

#include "bench/bench_communicator.h"
#include "bench/peer_scripts.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <thread>

namespace cohort::tool {
namespace {

constexpr const char* kOurGroup = "cohort";

Result<std::vector<std::string>> mpirun_line(const Session& session, int ranks) {
  const auto peer = std::filesystem::path(session.program).parent_path() / "cohort-bench-openmpi";
  std::error_code ignored;
  if (!std::filesystem::exists(peer, ignored)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("the peer openmpi was not built: '{}' does not exist", peer.string()))
        .with_remedy(kPeerSetUp);
  }
  const bool fits = ranks <= static_cast<int>(std::thread::hardware_concurrency());
  return std::vector<std::string>{
      "mpirun",     "--allow-run-as-root",  "--oversubscribe", "-np", std::to_string(ranks),
      "--bind-to",  fits ? "core" : "none", "--mca",           "btl", "self,vader",
      peer.string()};
}

}  // namespace

std::optional<measure::ContenderName> contender_named(const std::string& word) {
  const auto kinds = bench_kinds();
  if (std::find(kinds.begin(), kinds.end(), word) != kinds.end()) {
    return measure::ContenderName{.group = kOurGroup, .kind = word};
  }
  const auto names = contender_names();
  if (std::find(names.begin(), names.end(), word) == names.end()) return std::nullopt;
  return measure::ContenderName{.group = word, .kind = word};
}

std::vector<std::string> contender_names() {
  auto names = bench_kinds();
  names.insert(names.end(), {"tcp", "tls", "memcpy", "bare_tcp", "openmpi", "gloo", "gloo_pinned"});
  return names;
}

BenchGroups::BenchGroups(const Session& session, GroupOptions options, GroupProcesses processes)
    : session_(&session), options_(std::move(options)), processes_(std::move(processes)) {}

Result<BenchGroups> BenchGroups::open(const Session& session, GroupOptions options) {
  COHORT_ASSIGN_OR_RETURN(GroupProcesses processes, GroupProcesses::open());
  return BenchGroups(session, std::move(options), std::move(processes));
}

Result<std::vector<MemberStart>> BenchGroups::members(const std::string& group) const {
  std::vector<MemberStart> starts;
  if (group == "openmpi") {
    COHORT_ASSIGN_OR_RETURN(starts.emplace_back().argv, mpirun_line(*session_, options_.ranks));
    return starts;
  }
  for (int rank = 0; rank < options_.ranks; ++rank) {
    const auto mine = std::to_string(rank);
    const auto all = std::to_string(options_.ranks);
    std::vector<std::string>& argv = starts.emplace_back().argv;
    if (group.starts_with("gloo")) {
      argv = {peer_python(options_.python), "-c", gloo_script(), mine, all, processes_.folder(), group};
    } else {
      argv = {session_->program, "bench-rank", group, mine, all, processes_.folder()};
      if (options_.pin) argv.emplace_back("--pin");
    }
  }
  return starts;
}

Status BenchGroups::start(const std::string& group) {
  GroupStart start{.name = group, .ranks = options_.ranks, .limit = options_.start_limit};
  COHORT_ASSIGN_OR_RETURN(start.members, members(group));
  const bool is_peer = group == "openmpi" || group.starts_with("gloo");
  if (is_peer) start.remedy = kPeerSetUp;
  return processes_.start(std::move(start));
}

Result<std::vector<double>> BenchGroups::run(const measure::ContenderName& contender,
                                             const measure::RunCommand& command) {
  return processes_.run(contender.group, command, options_.run_limit);
}

}  // namespace cohort::tool
