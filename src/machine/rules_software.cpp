#include "machine/rules.h"

#include <fmt/format.h>

namespace cohort::machine {
namespace {

constexpr std::pair<int, int> kOldestLibtorch{2, 13};

std::string_view advice_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::kTimedOut:
      return "Raise doctor.probe_limit, or start cohort-libtorch-probe by hand to see what it waits for.";
    case ErrorCode::kNotFound:
      return "Install Cohort as a whole: cohort-libtorch-probe belongs beside cohort.";
    case ErrorCode::kExhausted:
      return "Free what has run out and try again.";
    default:
      return "Start cohort-libtorch-probe by hand; if libtorch does not load, install 2.13 or newer again.";
  }
}

}  // namespace

void judge_system(const Survey& survey, const Wishes&, Findings& findings) {
  const System& system = survey.system;
  if (!system.kernel_release) return findings.unknown("system", system.kernel_release.error());
  findings.fine("system", fmt::format("{}, Linux {}", system.name ? *system.name : "a system without a name",
                                      *system.kernel_release));
}

void judge_libtorch(const Survey& survey, const Wishes&, Findings& findings) {
  if (!survey.libtorch) {
    return findings.note("libtorch", "was not tried",
                         "Leave doctor.probe_libtorch at true to have it tried.");
  }
  const auto& libtorch = *survey.libtorch;
  if (!libtorch) {
    const std::string reason = libtorch.error().text();
    return findings.problem(
        "libtorch", "cannot be used: " + reason,
        fmt::format("{} The reason was: {}", advice_for(libtorch.error().code()), reason));
  }
  const auto release = release_of(libtorch->version);
  if (!release || *release < kOldestLibtorch) {
    return findings.problem(
        "libtorch", fmt::format("version {} is too old", libtorch->version),
        fmt::format("Install libtorch {}.{} or newer.", kOldestLibtorch.first, kOldestLibtorch.second));
  }
  findings.fine("libtorch", fmt::format("{}, {} kernels, loads in {:.0f} ms", libtorch->version,
                                        libtorch->capability, libtorch->load_ms));
}

void judge_mpi(const Survey& survey, const Wishes&, Findings& findings) {
  const auto& mpi = survey.mpi;
  if (mpi) return findings.fine("MPI", fmt::format("{} {}", name(mpi->vendor), mpi->version));
  if (mpi.error().code() != ErrorCode::kNotFound) return findings.unknown("MPI", mpi.error());
  findings.note("MPI", "not installed; only programs started with mpirun need it",
                "Nothing to do unless you start programs with mpirun; then install Open MPI or MPICH.");
}

}  // namespace cohort::machine
