#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::measure {

/// One end of a connection that carries lines.
///
/// Threads: one at a time.
/// Failure: kPeerLost when the other end is closed, kTimedOut at the deadline, kCorrupt for a line without an
/// end.
class LineSocket {
 public:
  explicit LineSocket(Descriptor socket) : socket_(std::move(socket)) {}

  Status write_line(std::string_view line, TimePoint deadline);
  /// Without its end.
  Result<std::string> read_line(TimePoint deadline);
  /// What has arrived, if it is a whole line; does not wait.
  Result<std::optional<std::string>> poll_line();

  int number() const { return socket_.number(); }

 private:
  std::optional<std::string> take_line();
  Result<bool> receive_some();

  Descriptor socket_;
  std::string received_;
};

/// Where participants connect: a socket without a file, in the abstract namespace, gone with this process.
///
/// Failure: whoever is not run by the same user is turned away.
class LineListener {
 public:
  static Result<LineListener> open();

  /// What a participant is told: a name nobody else uses.
  const std::string& name() const { return name_; }
  /// The next one that connects, or nothing at the deadline.
  Result<std::optional<LineSocket>> accept(TimePoint deadline);

 private:
  LineListener(Descriptor socket, std::string name) : socket_(std::move(socket)), name_(std::move(name)) {}

  Descriptor socket_;
  std::string name_;
};

Result<LineSocket> connect_lines(const std::string& name);

/// Waits until one of the descriptors can be read (or its other end is gone). False at the deadline.
Result<bool> wait_readable(const std::vector<int>& descriptors, TimePoint deadline);

}  // namespace cohort::measure
