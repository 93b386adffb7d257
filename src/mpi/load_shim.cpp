#include "mpi/library.h"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace cohort::mpi {
namespace {

struct Names {
  std::string_view name;
  std::string_view title;
  std::string_view run_package;    // Debian package of libmpi and mpirun
  std::string_view build_package;  // Debian package of mpi.h
};
constexpr Names kNames[] = {{"openmpi", "Open MPI", "openmpi-bin", "libopenmpi-dev"},
                            {"mpich", "MPICH", "mpich", "libmpich-dev"}};

const Names& names(Implementation implementation) {
  return kNames[static_cast<std::size_t>(implementation)];
}

std::string last_problem() {
  const char* const problem = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc has one for each thread
  return problem == nullptr ? "dlerror() gives no reason" : problem;
}

// Plugins that MPI loads later look for symbols of libmpi in the global scope.
constexpr int kHow = RTLD_NOW | RTLD_GLOBAL;

Status load_libmpi(const LibraryOptions& options) {
  if (options.library.empty() || ::dlopen(options.library.c_str(), kHow) != nullptr) return {};
  return Error(ErrorCode::kNotFound, fmt::format("cannot load '{}': {}", options.library, last_problem()))
      .with_remedy(
          "Set COHORT_MPI_LIBRARY to the libmpi of the mpirun that starts this job, or unset it to use the "
          "system's.");
}

Error not_loaded(const Names& names, const std::string& path) {
  if (!std::filesystem::exists(path)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("this Cohort was built without {}: there is no '{}'", names.title, path))
        .with_remedy(fmt::format("Install {} and build Cohort again.", names.build_package));
  }
  return Error(ErrorCode::kNotFound, fmt::format("cannot load {}: {}", names.title, last_problem()))
      .with_remedy(fmt::format("Install {}.", names.run_package));
}

}  // namespace

std::string_view name(Implementation implementation) {
  return names(implementation).name;
}

Result<const CohortMpiShim*> load_shim(const LibraryOptions& options) {
  const Names& own = names(options.implementation);
  COHORT_RETURN_IF_ERROR(load_libmpi(options));
  const std::string path = fmt::format("{}/libcohort-mpi-{}.so", options.shim_directory, own.name);
  void* const library = ::dlopen(path.c_str(), kHow);
  if (library == nullptr) return not_loaded(own, path);
  using Entry = const CohortMpiShim* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, COHORT_MPI_SHIM_SYMBOL));
  if (entry == nullptr) {
    return Error(ErrorCode::kUnsupported, fmt::format("'{}' is not a shim: {}", path, last_problem()))
        .with_remedy("Install Cohort again.");
  }
  const CohortMpiShim* const shim = entry();
  if (shim->version == COHORT_MPI_SHIM_VERSION) return shim;
  return Error(ErrorCode::kUnsupported, fmt::format("'{}': shim version {}, expected {}", path, shim->version,
                                                    COHORT_MPI_SHIM_VERSION))
      .with_remedy("Install the shim that came with this Cohort.");
}

}  // namespace cohort::mpi
