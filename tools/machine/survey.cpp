#include "machine/survey.h"

#include "machine/sources.h"

#include <cerrno>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <system_error>

namespace cohort::machine {

Result<Space> space_of(const std::string& path) {
  struct statvfs answer {};
  if (::statvfs(path.c_str(), &answer) != 0) {
    const int failure = errno;
    return Error(
        failure == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
        fmt::format("cannot measure the space of '{}': {}", path, std::generic_category().message(failure)));
  }
  return Space{.total_bytes = std::uint64_t{answer.f_blocks} * answer.f_frsize,
               .free_bytes = std::uint64_t{answer.f_bavail} * answer.f_frsize};
}

namespace {

std::optional<Fact<Libtorch>> libtorch_if_asked(const Sources& sources, const SurveyOptions& options) {
  if (!options.probe) return std::nullopt;
  return survey_libtorch(sources.run_program, *options.probe, options.program_limit);
}

}  // namespace

Survey survey_machine(const Sources& sources, const SurveyOptions& options) {
  return {.system = survey_system(sources.read_text),
          .cores = survey_cores(sources.read_text),
          .memory = survey_memory(sources.read_text),
          .shared_memory = survey_shared_memory(sources.read_text, sources.measure_space),
          .limits = survey_limits(),
          .interfaces = survey_network(sources.read_text),
          .thread_settings = thread_settings(sources.environment),
          .libtorch = libtorch_if_asked(sources, options),
          .mpi = survey_mpi(sources.run_program, options.program_limit),
          .disk = sources.measure_space(options.directory)};
}

}  // namespace cohort::machine
