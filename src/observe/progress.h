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
  std::optional<int> terminal_columns{};  ///< where the text goes to a terminal
  std::chrono::nanoseconds rewrite_every = std::chrono::milliseconds(100);  ///< on a terminal, at most
  std::chrono::nanoseconds line_every = std::chrono::seconds(5);            ///< elsewhere
};

/// Tells people how a run goes on: on a terminal one line that is written over again and again, elsewhere a
/// plain line every few seconds; and a lasting line for each epoch.
///
///     epoch 2/10  step 340/2000  loss 0.1234  12.3k samples/s  comm 3 %  data 0 %  left 1m20s
///
/// Threads: one at a time.
/// Lifetime: the clock must outlive it. Call close() before other text follows.
/// Cost: between two lines, a look at the clock.
class Progress {
 public:
  /// Gets the text; a piece may be part of a line.
  using Write = std::function<void(std::string_view text)>;

  Progress(const Clock& clock, Write write, ProgressOptions options);

  void step(const StepRecord& record);
  void epoch_end(const EpochRecord& record);
  /// A lasting line of its own, without its line end.
  void say(std::string_view line);
  /// Ends the line that is being written over, leaving it there.
  void close();

 private:
  std::vector<std::string> parts(const StepRecord& record) const;
  void rewrite(const std::vector<std::string>& parts);

  const Clock& clock_;
  Write write_;
  ProgressOptions options_;
  RecentSteps recent_;
  std::int64_t last_step_ = 0;
  std::optional<TimePoint> written_at_;
  bool line_is_open_ = false;
};

}  // namespace cohort::observe
