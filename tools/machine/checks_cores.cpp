#include "machine/checks.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::machine {
namespace {

std::string counted(std::int64_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

}  // namespace

Load load_of(const Survey& survey, const JobNeeds& needs) {
  Load load;
  load.cores = usable(survey.cores);
  const int share = std::max(1, load.cores.value_or(1) / needs.ranks);
  load.threads_per_rank = needs.threads_per_rank.value_or(share);
  load.threads = std::int64_t{needs.ranks} * load.threads_per_rank;
  return load;
}

void judge_cores(const Survey& survey, const JobNeeds& needs, Findings& findings) {
  const Load load = load_of(survey, needs);
  if (!load.cores) return findings.unknown("cores", survey.cores.allowed.error());
  if (*load.cores < 1) {
    return findings.problem(
        "cores", "no core may be used",
        "Allow cores: check the affinity mask of this process (taskset -p) and its container.");
  }
  const std::string wanted =
      fmt::format("{} × {}", counted(needs.ranks, "rank"), counted(load.threads_per_rank, "thread"));
  if (load.is_too_much()) {
    return findings.warning(
        "cores",
        fmt::format("{} = {} on {}: 6 to 15 times slower", wanted, load.threads,
                    counted(*load.cores, "usable core")),
        fmt::format("Use fewer ranks or threads, at most {} in total; otherwise set OMP_WAIT_POLICY=PASSIVE.",
                    *load.cores));
  }
  findings.fine("cores", fmt::format("{} for {}", counted(*load.cores, "usable core"), wanted));
}

void judge_quota(const Survey& survey, const JobNeeds&, Findings& findings) {
  const Cores& cores = survey.cores;
  if (!cores.quota) return findings.unknown("cpu quota", cores.quota.error());
  if (!*cores.quota) return findings.fine("cpu quota", "none");
  const double quota = **cores.quota;
  const Fact<int>& seen = cores.allowed ? cores.allowed : cores.online;
  if (seen && quota < *seen) {
    return findings.note(
        "cpu quota", fmt::format("{:.3g} cores, but programs see {}", quota, *seen),
        fmt::format("Raise the CPU quota of the container if it should use all cores; Cohort counts on {}.",
                    counted(usable(cores).value_or(1), "core")));
  }
  findings.fine("cpu quota", fmt::format("{:.3g} cores", quota));
}

void judge_instruction_sets(const Survey& survey, const JobNeeds&, Findings& findings) {
  const auto& sets = survey.cores.instruction_sets;
  if (!sets) return findings.unknown("instruction sets", sets.error());
  if (std::find(sets->begin(), sets->end(), "avx2") == sets->end()) {
    return findings.warning("instruction sets", "no AVX2: libtorch falls back to its slow kernels",
                            "Use a machine with AVX2, or let the virtual machine expose it (CPU type host).");
  }
  findings.fine("instruction sets", fmt::format("{}", fmt::join(*sets, " ")));
}

// As has_fast_bf16(): every processor with AMX for bf16 has AVX512_BF16 as well.
void judge_bf16(const Survey& survey, const JobNeeds& needs, Findings& findings) {
  const auto& sets = survey.cores.instruction_sets;
  if (!sets) return findings.unknown("bf16", sets.error());
  const auto has = [&](std::string_view set) {
    return std::find(sets->begin(), sets->end(), set) != sets->end();
  };
  if (has("avx512_bf16")) {
    return findings.fine("bf16", has("amx_bf16") ? "computed fast, by AMX" : "computed fast, by AVX512_BF16");
  }
  switch (needs.compute) {
    case ComputeType::kF32:
      return findings.fine("bf16", "no instructions for it, and the job computes in f32");
    case ComputeType::kAuto:
      return findings.note("bf16", "no instructions for it: precision.compute = \"auto\" is f32 here",
                           "Use a machine with AVX512_BF16 or AMX to compute in bf16.");
    case ComputeType::kBF16:
      break;
  }
  findings.warning("bf16", "no instructions for it: precision.compute = \"bf16\" is slower than f32",
                   "Set precision.compute to \"auto\", or use a machine with AVX512_BF16 or AMX.");
}

}  // namespace cohort::machine
