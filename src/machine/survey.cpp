#include "machine/survey.h"

namespace cohort::machine {
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
