#include "machine/survey_parts.h"

#include "machine/kernel_text.h"

namespace cohort::machine {
namespace {

constexpr std::string_view kVendorNames[] = {"Open MPI", "MPICH", "Intel MPI"};

// The first word after `mark`, without a trailing comma.
Result<std::string> word_after(std::string_view text, std::string_view mark) {
  const auto start = text.find(mark);
  const auto words = start == std::string_view::npos ? std::vector<std::string_view>()
                                                     : words_of(text.substr(start + mark.size()));
  if (words.empty()) {
    return Error(ErrorCode::kCorrupt, fmt::format("mpirun prints no version after '{}'", mark));
  }
  const std::string_view word = words.front();
  return std::string(word.substr(0, word.find(',')));
}

}  // namespace

std::string_view name(MpiVendor vendor) {
  return kVendorNames[static_cast<std::size_t>(vendor)];
}

Result<Mpi> parse_mpi_version(std::string_view text) {
  const std::string_view first = trimmed(split(trimmed(text), '\n').front());
  if (first.find("(Open MPI)") != std::string_view::npos) {
    COHORT_ASSIGN_OR_RETURN(std::string version, word_after(first, "(Open MPI)"));
    return Mpi{.vendor = MpiVendor::kOpenMpi, .version = std::move(version)};
  }
  if (first.starts_with("Intel(R) MPI Library")) {
    COHORT_ASSIGN_OR_RETURN(std::string version, word_after(first, "Version"));
    return Mpi{.vendor = MpiVendor::kIntel, .version = std::move(version)};
  }
  if (first.starts_with("HYDRA build details")) {  // MPICH's launcher; its version is on a line of its own
    COHORT_ASSIGN_OR_RETURN(std::string version, word_after(text, "Version:"));
    return Mpi{.vendor = MpiVendor::kMpich, .version = std::move(version)};
  }
  return Error(ErrorCode::kUnsupported,
               fmt::format("mpirun prints '{}', expected Open MPI, MPICH or Intel MPI", first));
}

Fact<Mpi> survey_mpi(const RunProgram& run, std::chrono::nanoseconds limit) {
  const Result<ProgramOutput> output = run({"mpirun", "--version"}, limit);
  if (!output) return output.error();
  if (output->exit_code != 0) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("'mpirun --version' ended with code {}", output->exit_code));
  }
  return parse_mpi_version(output->out);
}

}  // namespace cohort::machine
