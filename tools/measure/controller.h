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

/// Holds the connections to all rank processes of all groups and lets one group work at a time. The other
/// groups sleep in a read, so that they take no core from the group that is measured.
///
/// Threads: one.
/// Failure: names the rank and the group that died, did not answer by the deadline, or failed.
class Controller {
 public:
  static Result<Controller> open();

  /// The value of COHORT_BENCH_CONTROL for participants.
  const std::string& name() const { return listener_.name(); }

  /// Waits for the greetings of all ranks of a group. `still_alive` is called repeatedly, and its failure
  /// ends the wait: a process that has ended will not greet.
  Status await(const std::string& group, int ranks, TimePoint deadline,
               const std::function<Status()>& still_alive);

  /// Sends the same command to all ranks of a group and returns one time per sample: see samples_of().
  /// Failure: kUnsupported if the group has no such operation or kind.
  Result<std::vector<double>> run(const std::string& group, const RunCommand& command, TimePoint deadline);

  /// Like run(), for training steps: the nanoseconds of each step.
  Result<std::vector<double>> run(const std::string& group, const StepCommand& command, TimePoint deadline);

  /// Like run(), for work on a state: the nanoseconds of one sample.
  Result<std::vector<double>> run(const std::string& group, const StateCommand& command, TimePoint deadline);

  /// Tells the participants of a group to end and forgets them, without waiting.
  void end(const std::string& group);
  /// Tells every participant to end, without waiting.
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

/// Nanoseconds per call for each iteration: the time of the slowest rank by its own clock, divided by the
/// calls of a batch (and by two for send_receive, which goes both ways).
std::vector<double> samples_of(const RunCommand& command, const std::vector<Times>& ranks);
/// Nanoseconds per step: the time of the slowest rank by its own clock.
std::vector<double> samples_of(const StepCommand& command, const std::vector<Times>& ranks);
/// Nanoseconds of the one sample: the time of the slowest rank by its own clock.
std::vector<double> samples_of(const StateCommand& command, const std::vector<Times>& ranks);

}  // namespace cohort::measure
