#include "machine/rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::machine {
namespace {

std::string counted(std::int64_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

}  // namespace

Load load_of(const Survey& survey, const Wishes& wishes) {
  Load load;
  load.cores = usable(survey.cores);
  const int share = std::max(1, load.cores.value_or(1) / wishes.ranks);
  load.threads_per_rank = wishes.threads_per_rank.value_or(share);
  load.threads = std::int64_t{wishes.ranks} * load.threads_per_rank;
  return load;
}

void judge_cores(const Survey& survey, const Wishes& wishes, Findings& findings) {
  const Load load = load_of(survey, wishes);
  if (!load.cores) return findings.unknown("cores", survey.cores.allowed.error());
  if (*load.cores < 1) {
    return findings.problem(
        "cores", "not a single core may be used",
        "Give this process cores: look at its affinity mask (taskset -p) and its container.");
  }
  const std::string wanted =
      fmt::format("{} × {}", counted(wishes.ranks, "rank"), counted(load.threads_per_rank, "thread"));
  if (load.is_too_much()) {
    return findings.warning(
        "cores",
        fmt::format("{} = {} on {}: slower by 6 to 15 times", wanted, load.threads,
                    counted(*load.cores, "usable core")),
        fmt::format(
            "Use fewer ranks or threads, at most {} in all; if it must be, set OMP_WAIT_POLICY=PASSIVE.",
            *load.cores));
  }
  findings.fine("cores", fmt::format("{} for {}", counted(*load.cores, "usable core"), wanted));
}

void judge_quota(const Survey& survey, const Wishes&, Findings& findings) {
  const Cores& cores = survey.cores;
  if (!cores.quota) return findings.unknown("cpu quota", cores.quota.error());
  if (!*cores.quota) return findings.fine("cpu quota", "none");
  const double quota = **cores.quota;
  const Fact<int>& seen = cores.allowed ? cores.allowed : cores.online;
  if (seen && quota < *seen) {
    return findings.note(
        "cpu quota", fmt::format("time for {:.3g} of the {} cores that programs see", quota, *seen),
        fmt::format("Give the container more time if it should use them all; Cohort counts on {}.",
                    counted(usable(cores).value_or(1), "core")));
  }
  findings.fine("cpu quota", fmt::format("time for {:.3g} cores", quota));
}

void judge_instruction_sets(const Survey& survey, const Wishes&, Findings& findings) {
  const auto& sets = survey.cores.instruction_sets;
  if (!sets) return findings.unknown("instruction sets", sets.error());
  if (std::find(sets->begin(), sets->end(), "avx2") == sets->end()) {
    return findings.warning("instruction sets", "no AVX2: libtorch falls back to its slow kernels",
                            "Use a machine with AVX2, or let the virtual machine show it (CPU type host).");
  }
  findings.fine("instruction sets", fmt::format("{}", fmt::join(*sets, " ")));
}

}  // namespace cohort::machine
