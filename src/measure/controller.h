#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "measure/line_socket.h"
#include "measure/protocol.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cohort::measure {

/// Holds the connections to all rank processes of all groups and lets one group work at a time; the others
/// sleep in a read, so that nobody idle takes a core from whoever is measured.
///
/// Threads: one.
/// Failure: names the rank and the group that died, did not answer by the deadline, or failed.
class Controller {
 public:
  static Result<Controller> open();

  /// What participants find in COHORT_BENCH_CONTROL.
  const std::string& name() const { return listener_.name(); }

  /// Waits for the greetings of all ranks of a group. `still_alive` is asked again and again, and its failure
  /// ends the wait: a process that ended will not greet.
  Status await(const std::string& group, int ranks, TimePoint deadline,
               const std::function<Status()>& still_alive);

  /// Gives all ranks of a group the same command and returns one time per sample: see samples_of().
  /// Failure: kUnsupported if the group cannot do that.
  Result<std::vector<double>> run(const std::string& group, const RunCommand& command, TimePoint deadline);

  /// The same for training steps: nanoseconds of each.
  Result<std::vector<double>> run(const std::string& group, const StepCommand& command, TimePoint deadline);

  /// Tells the participants of a group to end and forgets them; does not wait for them.
  void end(const std::string& group);
  /// Tells every participant to end; does not wait for them.
  void end();

 private:
  explicit Controller(LineListener listener) : listener_(std::move(listener)) {}
  Status greet(LineSocket socket, TimePoint deadline);
  Result<std::vector<Times>> ask(const std::string& group, const std::string& line, std::size_t samples,
                                 TimePoint deadline);
  Result<std::vector<Times>> collect(const std::string& group, std::size_t samples, TimePoint deadline);

  LineListener listener_;
  std::map<std::string, std::map<int, LineSocket>> groups_;
};

/// Nanoseconds per call and iteration: those of the rank that took longest by its own clock, divided by the
/// calls of a batch (and by two for the two ways of send_receive).
std::vector<double> samples_of(const RunCommand& command, const std::vector<Times>& ranks);
/// Nanoseconds per step: those of the rank that took longest by its own clock.
std::vector<double> samples_of(const StepCommand& command, const std::vector<Times>& ranks);

}  // namespace cohort::measure
