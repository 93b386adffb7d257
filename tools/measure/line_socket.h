#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::measure {

/// One end of a connection that carries lines of text.
///
/// Threads: one at a time.
/// Failure: kPeerLost when the other end is closed, kTimedOut at the deadline, kCorrupt for a line without an
/// end.
class LineSocket {
 public:
  explicit LineSocket(Descriptor socket) : socket_(std::move(socket)) {}

  Status write_line(std::string_view line, TimePoint deadline);
  /// The line without its newline.
  Result<std::string> read_line(TimePoint deadline);
  /// A line that has already arrived completely, or empty; does not wait.
  Result<std::optional<std::string>> poll_line();

  int number() const { return socket_.number(); }

 private:
  std::optional<std::string> take_line();
  Result<bool> receive_some();

  Descriptor socket_;
  std::string received_;
};

/// The listening socket for participants: an abstract unix socket that disappears with this process.
///
/// Failure: a connection from a process of another user is refused.
class LineListener {
 public:
  static Result<LineListener> open();

  /// The name of the socket, which no other process uses.
  const std::string& name() const { return name_; }
  /// The next connection; empty at the deadline.
  Result<std::optional<LineSocket>> accept(TimePoint deadline);

 private:
  LineListener(Descriptor socket, std::string name) : socket_(std::move(socket)), name_(std::move(name)) {}

  Descriptor socket_;
  std::string name_;
};

Result<LineSocket> connect_lines(const std::string& name);

/// Waits until one of the descriptors is readable or closed by its peer. Returns false at the deadline.
Result<bool> wait_readable(const std::vector<int>& descriptors, TimePoint deadline);

}  // namespace cohort::measure
