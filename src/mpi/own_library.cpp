#include "base/home_process.h"
#include "mpi/library.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace cohort::mpi {
namespace {

namespace fs = std::filesystem;

struct Own {
  std::mutex mutex;
  Implementation implementation{};
  std::shared_ptr<Library> library;
  HomeProcess home{};
};

// Never destroyed: the exit handler uses it.
Own& own() {
  static Own& only = *new Own;
  return only;
}

void finish_if_all_is_well(int exit_code, void*) {
  if (!own().home.is_here()) return;  // a forked child runs the exit handlers of its parent as well
  const std::lock_guard lock(own().mutex);
  const bool is_in_use = own().library.use_count() > 1;
  if (exit_code == 0 && !is_in_use && own().library->is_ours()) (void)own().library->finish();
}

fs::path own_folder() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&own_library), &found) == 0) return ".";
  std::error_code ignored;
  const fs::path file = fs::canonical(found.dli_fname, ignored);
  return ignored ? fs::path(found.dli_fname).parent_path() : file.parent_path();
}

}  // namespace

std::string own_shim_directory(Implementation implementation) {
  const fs::path folder = own_folder();
  const std::string shim = fmt::format("libcohort-mpi-{}.so", name(implementation));
  for (const fs::path& candidate : {folder, folder.parent_path() / COHORT_LIBRARY_FOLDER}) {
    std::error_code ignored;
    if (fs::exists(candidate / shim, ignored)) return candidate.string();
  }
  return folder.string();
}

Result<std::shared_ptr<Library>> own_library(const LibraryOptions& options) {
  const std::lock_guard lock(own().mutex);
  if (own().library) {
    if (own().implementation == options.implementation) return own().library;
    return Error(ErrorCode::kUsage, fmt::format("this process already uses {}, and cannot load a second MPI",
                                                own().library->text()));
  }
  COHORT_ASSIGN_OR_RETURN(own().library, Library::load(options));
  own().implementation = options.implementation;
  ::on_exit(finish_if_all_is_well, nullptr);
  return own().library;
}

}  // namespace cohort::mpi
