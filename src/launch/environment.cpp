#include "launch/environment.h"

#include "launch/variable_reader.h"
#include "launch/variables.h"

#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <vector>

namespace cohort {
namespace {

using launch::quoted;
using launch::VariableReader;

// The names of the four variables of a launcher.
struct Names {
  std::string rank;
  std::string world;
  std::string local_rank;
  std::string local_size;
};

const Names cohort_names{"COHORT_RANK", "COHORT_WORLD", "COHORT_LOCAL_RANK", "COHORT_LOCAL_WORLD"};
const Names torchrun_names{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
const Names open_mpi_names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                           "OMPI_COMM_WORLD_LOCAL_SIZE"};
const Names hydra_names{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};

// Step numbers from here on are Slurm's for a batch script, an allocation or an interactive shell.
constexpr std::uint32_t kFirstReservedStep = 0xfffffff0;

Result<bool> is_step_of_tasks(const VariableReader& variables) {
  const auto step = variables.text("SLURM_STEP_ID");
  if (!step) return false;
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(step->data(), step->data() + step->size(), number);
  if (failure != std::errc() || end != step->data() + step->size()) {
    return Error(ErrorCode::kUsage, fmt::format("the environment has {}, which is not a number of a step",
                                                quoted("SLURM_STEP_ID", *step)))
        .with_remedy("Unset it if it was set by hand, or start the program with srun.");
  }
  return number < kFirstReservedStep;
}

Result<Launcher> launcher_of(const VariableReader& variables) {
  if (variables.has("COHORT_RANK") || variables.has("COHORT_WORLD")) return Launcher::kCohort;
  if (variables.has("RANK") && variables.has("WORLD_SIZE")) return Launcher::kTorchrun;
  if (variables.has("OMPI_COMM_WORLD_RANK")) return Launcher::kOpenMpi;
  if (variables.has("PMI_RANK") && variables.has("MPI_LOCALRANKID")) return Launcher::kHydra;
  if (variables.has("SLURM_PROCID")) {
    COHORT_ASSIGN_OR_RETURN(const bool is_rank, is_step_of_tasks(variables));
    if (is_rank) return Launcher::kSlurm;
  }
  return variables.has("PMI_RANK") ? Launcher::kPmi : Launcher::kNone;
}

Error contradiction(const std::string& name, int value, const std::string& bound, int limit) {
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}={}, which must be below {}={}", name, value, bound, limit))
      .with_remedy(
          fmt::format("Let one launcher set both, or unset them: ranks count from 0, so {} stays below {}.",
                      name, bound));
}

Status check(const LaunchFacts& facts, const Names& names) {
  if (facts.rank >= facts.world) return contradiction(names.rank, facts.rank, names.world, facts.world);
  if (facts.local_rank >= facts.local_size) {
    return contradiction(names.local_rank, facts.local_rank, names.local_size, facts.local_size);
  }
  if (facts.local_size > facts.world) {
    return Error(ErrorCode::kUsage, fmt::format("the environment has {}={}, more than all ranks ({}={})",
                                                names.local_size, facts.local_size, names.world, facts.world))
        .with_remedy("Let one launcher set both, or unset them.");
  }
  return {};
}

Status read_identity(const VariableReader& variables, const Names& names, LaunchFacts& facts) {
  COHORT_ASSIGN_OR_RETURN(facts.rank, variables.number(names.rank, 0));
  COHORT_ASSIGN_OR_RETURN(facts.world, variables.number(names.world, 1));
  const bool tells_local = variables.has(names.local_rank) || variables.has(names.local_size);
  if (facts.world > 1 || tells_local) {
    COHORT_ASSIGN_OR_RETURN(facts.local_rank, variables.number(names.local_rank, 0));
    COHORT_ASSIGN_OR_RETURN(facts.local_size, variables.number(names.local_size, 1));
  }
  return check(facts, names);
}

// Such a launcher exports nothing about hosts.
Status read_pmi(const VariableReader& variables, LaunchFacts& facts) {
  COHORT_ASSIGN_OR_RETURN(facts.rank, variables.number("PMI_RANK", 0));
  COHORT_ASSIGN_OR_RETURN(facts.world, variables.number("PMI_SIZE", 1));
  COHORT_RETURN_IF_ERROR(check({.rank = facts.rank, .world = facts.world}, hydra_names));
  if (facts.world == 1) return {};
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has PMI_SIZE={} but not which ranks share a host", facts.world))
      .with_remedy("Set MPI_LOCALRANKID and MPI_LOCALNRANKS for each rank, or use another launcher.");
}

struct LocalTasks {
  std::string name;  // the variable that the count was read from
  int count = 1;
};

Result<LocalTasks> slurm_local_tasks(const VariableReader& variables, int world) {
  const std::string list = "SLURM_STEP_TASKS_PER_NODE";
  if (const auto text = variables.text(list)) {
    COHORT_ASSIGN_OR_RETURN(const auto tasks, launch::parse_tasks_per_node(*text).within(fmt::format(
                                                  "the environment has {}", quoted(list, *text))));
    std::size_t node = 0;
    if (tasks.size() > 1) {
      COHORT_ASSIGN_OR_RETURN(const int number, variables.number("SLURM_NODEID", 0));
      node = static_cast<std::size_t>(number);
    }
    if (node >= tasks.size()) {
      return contradiction("SLURM_NODEID", static_cast<int>(node), "the nodes of " + list,
                           static_cast<int>(tasks.size()));
    }
    return LocalTasks{list, tasks[node]};
  }
  const std::string plain = "SLURM_NTASKS_PER_NODE";
  if (world == 1 && !variables.has(plain)) return LocalTasks{plain, 1};
  COHORT_ASSIGN_OR_RETURN(const int count, variables.number(plain, 1));
  return LocalTasks{plain, count};
}

Status read_slurm(const VariableReader& variables, LaunchFacts& facts) {
  Names names{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""};
  if (!variables.has(names.world)) names.world = "SLURM_NTASKS";
  COHORT_ASSIGN_OR_RETURN(facts.rank, variables.number(names.rank, 0));
  COHORT_ASSIGN_OR_RETURN(facts.world, variables.number(names.world, 1));
  COHORT_ASSIGN_OR_RETURN(facts.local_rank, variables.number(names.local_rank, 0));
  COHORT_ASSIGN_OR_RETURN(const LocalTasks local, slurm_local_tasks(variables, facts.world));
  facts.local_size = local.count;
  names.local_size = local.name;
  return check(facts, names);
}

Status read_numbers(const VariableReader& variables, LaunchFacts& facts) {
  switch (facts.launcher) {
    case Launcher::kNone:
      return {};
    case Launcher::kCohort:
      return read_identity(variables, cohort_names, facts);
    case Launcher::kTorchrun:
      return read_identity(variables, torchrun_names, facts);
    case Launcher::kOpenMpi:
      return read_identity(variables, open_mpi_names, facts);
    case Launcher::kHydra:
      return read_identity(variables, hydra_names, facts);
    case Launcher::kSlurm:
      return read_slurm(variables, facts);
    case Launcher::kPmi:
      return read_pmi(variables, facts);
  }
  return {};
}

Status read_generation(const VariableReader& variables, LaunchFacts& facts) {
  std::optional<int> count;
  if (facts.launcher == Launcher::kCohort) {
    COHORT_ASSIGN_OR_RETURN(count, variables.number_if_set("COHORT_GENERATION", 0));
  }
  if (facts.launcher == Launcher::kTorchrun) {
    COHORT_ASSIGN_OR_RETURN(count, variables.number_if_set("TORCHELASTIC_RESTART_COUNT", 0));
  }
  facts.generation = count.value_or(0);
  return {};
}

Status read_roles(const VariableReader& variables, LaunchFacts& facts) {
  if (facts.launcher != Launcher::kCohort) return {};
  COHORT_ASSIGN_OR_RETURN(const auto servers, variables.number_if_set("COHORT_SERVERS", 0));
  COHORT_ASSIGN_OR_RETURN(const auto spares, variables.number_if_set("COHORT_SPARES", 0));
  facts.roles = {.servers = servers.value_or(0), .spares = spares.value_or(0)};
  // Compared one after the other: their sum might not fit.
  if (facts.roles.servers >= facts.world || facts.roles.spares >= facts.world - facts.roles.servers) {
    return Error(ErrorCode::kUsage,
                 fmt::format("the environment has COHORT_SERVERS={} and COHORT_SPARES={}, which leaves no "
                             "worker of COHORT_WORLD={}",
                             facts.roles.servers, facts.roles.spares, facts.world))
        .with_remedy("Let cohort run set them: cohort run -n WORKERS --servers N --spares N.");
  }
  const Role role = facts.roles.of(facts.rank, facts.world);
  const std::string text = variables.text("COHORT_ROLE").value_or(std::string(name(role)));
  if (text == name(role)) return {};
  return Error(ErrorCode::kUsage, fmt::format("the environment has {}, but rank {} of {} with {} servers and "
                                              "{} spares is a {}",
                                              quoted("COHORT_ROLE", text), facts.rank, facts.world,
                                              facts.roles.servers, facts.roles.spares, name(role)))
      .with_remedy("Let cohort run set it, or unset it.");
}

}  // namespace

std::string_view name(Launcher launcher) {
  switch (launcher) {
    case Launcher::kNone:
      return "no launcher";
    case Launcher::kCohort:
      return "cohort run";
    case Launcher::kTorchrun:
      return "torchrun";
    case Launcher::kOpenMpi:
      return "mpirun (Open MPI)";
    case Launcher::kHydra:
      return "mpirun (Hydra)";
    case Launcher::kSlurm:
      return "srun";
    case Launcher::kPmi:
      return "a PMI launcher";
  }
  return "no launcher";
}

Result<LaunchFacts> launch_facts(const EnvironmentVariables& environment, uid_t user) {
  const VariableReader variables(environment);
  LaunchFacts facts;
  COHORT_ASSIGN_OR_RETURN(facts.links.settings, launch::read_link_settings(variables));
  COHORT_ASSIGN_OR_RETURN(facts.limits, launch::read_limits(variables));
  COHORT_ASSIGN_OR_RETURN(facts.launcher, launcher_of(variables));
  if (facts.launcher == Launcher::kNone) return facts;
  COHORT_RETURN_IF_ERROR(read_numbers(variables, facts));
  COHORT_RETURN_IF_ERROR(read_generation(variables, facts));
  COHORT_RETURN_IF_ERROR(read_roles(variables, facts));
  COHORT_RETURN_IF_ERROR(launch::read_rendezvous(variables, user, facts));
  COHORT_RETURN_IF_ERROR(launch::read_links(variables, facts));
  return facts;
}

}  // namespace cohort
