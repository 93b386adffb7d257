#include "exit_code.h"

namespace cohort::tool {

std::span<const ExitCodeRow> exit_codes() {
  static constexpr ExitCodeRow kRows[] = {
      {ExitCode::kDone, "done", "Success."},
      {ExitCode::kFailed, "failed",
       "The command failed, or the doctor found a problem; the message says why."},
      {ExitCode::kUsage, "usage",
       "A mistake in the command, an option, a file or a value; nothing was started."},
      {ExitCode::kDiverged, "diverged",
       "A loss or a gradient became NaN or infinite, and `cohort train` ended the training."},
      {ExitCode::kBug, "bug", "A check inside Cohort failed; please report the message."},
      {ExitCode::kFollowed, "followed",
       "A rank of `cohort train` ended because another rank failed, which reports the reason."},
      {ExitCode::kStopped, "stopped",
       "`cohort train` was told to stop, by a signal or a time limit, and its state is saved: "
       "`cohort train --resume` goes on."},
  };
  return kRows;
}

std::string_view passed_on_exit_codes() {
  return "`cohort run` and `cohort train` exit with the code of the rank that failed first, or 128 plus the "
         "signal that killed it; when they are interrupted themselves, with 128 plus that signal (130 for "
         "Ctrl-C), unless all ranks exit with 85. A rank that exits with 75 is passed over as long as "
         "another rank failed otherwise. With "
         "`--on-rank-loss tell`, `cohort run` exits with 0 if at least one rank did, and all others did, "
         "too, or were killed by a signal. A line on standard error says which rank it was, so that these "
         "codes and the tool's own can be told apart.";
}

}  // namespace cohort::tool
