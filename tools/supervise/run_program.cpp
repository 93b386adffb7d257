#include "supervise/run_program.h"

#include "base/units.h"
#include "supervise/process.h"

#include <fmt/format.h>

namespace cohort {

Result<ProgramOutput> run_program(std::vector<std::string> argv, std::chrono::nanoseconds limit) {
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), limit);
  const std::string program = argv.empty() ? "" : argv.front();
  COHORT_ASSIGN_OR_RETURN(Process process, Process::start({.argv = std::move(argv)}));
  const auto status = process.wait(deadline);
  if (!status && status.error().code() == ErrorCode::kTimedOut) {
    return Error(ErrorCode::kTimedOut,
                 fmt::format("'{}' did not end within {}", program, format_duration(limit)));
  }
  COHORT_RETURN_IF_ERROR(status);
  if (!status->code) return Error(ErrorCode::kAborted, fmt::format("'{}' {}", program, status->text()));
  CapturedOutput out = process.output();
  CapturedOutput err = process.error_output();
  if (out.dropped_bytes + err.dropped_bytes > 0) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("'{}' wrote {} more than the limit of 16 MiB per stream", program,
                             format_bytes(out.dropped_bytes + err.dropped_bytes)));
  }
  return ProgramOutput{*status->code, std::move(out.text), std::move(err.text)};
}

}  // namespace cohort
