#pragma once

#include "base/clock.h"
#include "observe/recent_steps.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::observe {

struct ProgressOptions {
  std::int64_t steps = 0;                 ///< of the whole run
  std::int64_t epochs = 0;                ///< of the whole run
  std::optional<int> terminal_columns{};  ///< if the text goes to a terminal
  std::chrono::nanoseconds rewrite_every =
      std::chrono::milliseconds(100);                             ///< on a terminal, at most this often
  std::chrono::nanoseconds line_every = std::chrono::seconds(5);  ///< elsewhere
};

/// Shows the progress of a run: on a terminal one line that is overwritten, elsewhere a plain line every few
/// seconds; and a permanent line for each epoch.
///
///     epoch 2/10  step 340/2000  loss 0.1234  12.3k samples/s  comm 3 %  data 0 %  left 1m20s
///
/// The loss scale, the number of skipped steps and the stages that fell back to f32 follow, where there are
/// any.
///
/// Threads: one at a time.
/// Lifetime: the clock must outlive the progress. Call close() before other text follows.
/// Cost: between two lines, one reading of the clock.
class Progress {
 public:
  /// Receives the text; a piece may be part of a line.
  using Write = std::function<void(std::string_view text)>;

  Progress(const Clock& clock, Write write, ProgressOptions options);

  void step(const StepReport& record);
  void epoch_end(const EpochRecord& record);
  /// Prints a permanent line; `text` has no newline.
  void say(std::string_view line);
  /// Ends the line that is being overwritten and leaves it on the screen.
  void close();

 private:
  std::vector<std::string> parts(const StepReport& record) const;
  void rewrite(const std::vector<std::string>& parts);

  const Clock& clock_;
  Write write_;
  ProgressOptions options_;
  RecentSteps recent_;
  std::int64_t last_step_ = 0;
  std::int64_t num_skipped_ = 0;
  std::optional<TimePoint> written_at_;
  bool line_is_open_ = false;
};

}  // namespace cohort::observe
