#include "launch/launching_mpi.h"

#include "launch/variable_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <unistd.h>

namespace cohort::launch {
namespace {

namespace fs = std::filesystem;
using Kind = LaunchingMpi::Kind;

constexpr int kMostAncestors = 32;

struct Names {
  std::string_view library;
  std::vector<std::string_view> launchers;  // programs whose descendants are ranks of this MPI
};

const Names& names(Kind kind) {
  static const std::array<Names, 2> all = {{
      {"libmpi.so.40", {"orterun", "orted", "prterun", "prted", "prte", "mpirun"}},
      {"libmpich.so.12", {"hydra_pmi_proxy", "mpiexec.hydra"}},
  }};
  return all[static_cast<std::size_t>(kind)];
}

Error no_mpi(Launcher launcher) {
  return Error(
             ErrorCode::kUsage,
             fmt::format("the backend mpi wants ranks that an MPI has started, and these were started by {}",
                         name(launcher)))
      .with_remedy(
          "Start the program with mpirun or srun, as in `mpirun -n 4 ./program`, or choose another backend.");
}

Result<Kind> kind_under_slurm(const VariableReader& variables) {
  if (variables.has("PMIX_RANK")) return Kind::kOpenMpi;
  if (variables.has("PMI_RANK") || variables.has("PMI_FD")) return Kind::kMpich;
  return Error(ErrorCode::kUsage,
               "the backend mpi wants srun to manage the processes of an MPI, and it does not")
      .with_remedy("Start with `srun --mpi=pmix` for Open MPI, or `srun --mpi=pmi2` for MPICH.");
}

Result<Kind> kind_of(Launcher launcher, const VariableReader& variables) {
  switch (launcher) {
    case Launcher::kOpenMpi:
      return Kind::kOpenMpi;
    case Launcher::kHydra:
    case Launcher::kPmi:
      return Kind::kMpich;
    case Launcher::kSlurm:
      return kind_under_slurm(variables);
    case Launcher::kNone:
    case Launcher::kCohort:
    case Launcher::kTorchrun:
      break;
  }
  return no_mpi(launcher);
}

// Looks for PREFIX/lib/libmpi of the launcher PREFIX/bin/mpirun. An empty text: the launcher was found
// without a library beside it, so the library is the system's.
std::optional<std::string> beside_launcher(Kind kind, const MpiTraces& traces) {
  const Names& own = names(kind);
  for (const std::string& ancestor : traces.ancestors) {
    const fs::path program = ancestor;
    const std::string word = program.filename().string();
    if (std::find(own.launchers.begin(), own.launchers.end(), word) == own.launchers.end()) continue;
    for (const char* folder : {"lib", "lib64"}) {
      const fs::path library = program.parent_path().parent_path() / folder / own.library;
      if (traces.exists(library.string())) return library.string();
    }
    return "";
  }
  return std::nullopt;
}

std::optional<std::string> by_variables(const VariableReader& variables, const MpiTraces& traces) {
  const std::string prefix = variables.text("OPAL_PREFIX").value_or("");
  const std::string folder =
      variables.text("OMPI_LIBDIR_LOC").value_or(prefix.empty() ? "" : prefix + "/lib");
  const std::string library = fmt::format("{}/{}", folder, names(Kind::kOpenMpi).library);
  return !folder.empty() && traces.exists(library) ? std::optional(library) : std::nullopt;
}

// The process id of the parent, from /proc/PID/status.
std::optional<pid_t> parent_of(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string word; status >> word;) {
    pid_t parent = 0;
    if (word == "PPid:" && status >> parent && parent > 0) return parent;
  }
  return std::nullopt;
}

std::vector<std::string> ancestor_programs() {
  std::vector<std::string> programs;
  std::optional<pid_t> process = ::getppid();
  for (int i = 0; i < kMostAncestors && process; ++i) {
    std::error_code hidden;  // the process belongs to another user or container
    const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", *process), hidden);
    if (!hidden) programs.push_back(program.string());
    process = parent_of(*process);
  }
  return programs;
}

}  // namespace

Result<LaunchingMpi> launching_mpi(Launcher launcher, const MpiTraces& traces) {
  const VariableReader variables(traces.environment);
  LaunchingMpi mpi;
  COHORT_ASSIGN_OR_RETURN(mpi.kind, kind_of(launcher, variables));
  if (const auto given = variables.text("COHORT_MPI_LIBRARY"); given && !given->empty()) {
    mpi.library = *given;
  } else if (const auto beside = beside_launcher(mpi.kind, traces)) {
    mpi.library = *beside;
  } else if (mpi.kind == Kind::kOpenMpi) {
    mpi.library = by_variables(variables, traces).value_or("");
  }
  return mpi;
}

Result<LaunchingMpi> own_launching_mpi(Launcher launcher) {
  return launching_mpi(launcher, {.environment = own_environment(),
                                  .ancestors = ancestor_programs(),
                                  .exists = [](const std::string& file) {
                                    std::error_code ignored;
                                    return fs::exists(file, ignored);
                                  }});
}

}  // namespace cohort::launch
