#include "doctor/examination.h"

#include "observe/log.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "supervise/run_program.h"

#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace cohort::tool {

machine::Survey examine(const Session& session, const Config& config) {
  DescriptorSink sink(STDERR_FILENO, config.log.format);
  const RealClock clock;
  const observe::Log log(sink, clock, {.level = config.log.level});
  const machine::Sources sources{
      .read_text =
          [&log](const std::string& path) {
            log.trace("reading {}", path);
            LocalFileSystem files;
            return read_file(files, path);
          },
      .run_program =
          [&log](const std::vector<std::string>& argv, std::chrono::nanoseconds limit) {
            log.info("running {}", fmt::join(argv, " "));
            return run_program(argv, limit);
          },
      .environment = session.environment};
  const auto probe = std::filesystem::path(session.program).parent_path() / "cohort-libtorch-probe";
  return machine::survey_machine(
      sources, {.probe = config.doctor.probe_libtorch ? std::optional(probe.string()) : std::nullopt,
                .program_limit = config.doctor.probe_limit});
}

machine::JobNeeds wishes_of(const Config& config) {
  return {.ranks = config.launch.ranks,
          .threads_per_rank = config.launch.threads_per_rank,
          .memory_per_rank_bytes = config.launch.memory_per_rank,
          .shared_memory_per_rank_bytes = config.launch.shared_memory_per_rank,
          .memory_headroom = config.doctor.memory_headroom,
          .compute = config.precision.compute,
          .interfaces = config.launch.interfaces,
          .open_files_per_rank = config.launch.open_files_per_rank};
}

}  // namespace cohort::tool
