#include "machine/checks.h"

#include <fmt/format.h>

namespace cohort::machine {
namespace {

constexpr std::pair<int, int> kOldestLibtorch{2, 13};

std::string_view advice_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::kTimedOut:
      return "Raise doctor.probe_limit, or start cohort-libtorch-probe by hand to see why it hangs.";
    case ErrorCode::kNotFound:
      return "Install Cohort completely: cohort-libtorch-probe belongs beside cohort.";
    case ErrorCode::kExhausted:
      return "Free the exhausted resource and try again.";
    default:
      return "Start cohort-libtorch-probe by hand; if libtorch does not load, reinstall version 2.13 or "
             "newer.";
  }
}

}  // namespace

void judge_system(const Survey& survey, const JobNeeds&, Findings& findings) {
  const System& system = survey.system;
  if (!system.kernel_release) return findings.unknown("system", system.kernel_release.error());
  findings.fine("system", fmt::format("{}, Linux {}", system.name ? *system.name : "a system without a name",
                                      *system.kernel_release));
}

void judge_libtorch(const Survey& survey, const JobNeeds&, Findings& findings) {
  if (!survey.libtorch) {
    return findings.note("libtorch", "not tested", "Set doctor.probe_libtorch to true to have it tested.");
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
  findings.fine("libtorch folder", libtorch->folder);
}

void judge_mpi(const Survey& survey, const JobNeeds&, Findings& findings) {
  const auto& mpi = survey.mpi;
  if (mpi) return findings.fine("MPI", fmt::format("{} {}", name(mpi->vendor), mpi->version));
  if (mpi.error().code() != ErrorCode::kNotFound) return findings.unknown("MPI", mpi.error());
  findings.note("MPI", "not installed; only programs started with mpirun need it",
                "Nothing to do unless you start programs with mpirun; then install Open MPI or MPICH.");
}

}  // namespace cohort::machine
