#pragma once

#include "net/greeting.h"
#include "net/station.h"
#include "net/stream.h"

#include <functional>
#include <memory>
#include <vector>

namespace cohort::net {

/// Accepts connections from other members and runs the listener's side of the handshake. With a closed
/// descriptor as listener, no connection is ever accepted.
///
/// Threads: one at a time.
/// Lifetime: the station must outlive the reception.
/// Failure: a connection that fails the handshake, or takes too long, is closed without an answer.
/// Cost: at most 128 connections are in the handshake at a time; for the next one the oldest is closed.
class Reception {
 public:
  /// Receives every connection that the judge has accepted.
  using Admit = std::function<void(const ListenerGreeting&, std::unique_ptr<Connection>)>;

  Reception(Station& station, Descriptor listener, ListenerGreeting::Judge judge, Admit admit);

  bool advance();
  TimePoint wanted_at() const;
  void close();

 private:
  struct Guest {
    std::unique_ptr<Connection> connection;
    std::unique_ptr<ListenerGreeting> greeting;
    TimePoint until;
  };

  bool accept_guests();
  void receive_guest(Descriptor socket);
  bool is_done(Guest& guest);

  Station& station_;
  const ListenerGreeting::Judge judge_;
  const Admit admit_;
  Descriptor listener_;
  std::unique_ptr<Watch> watch_;
  std::vector<Guest> guests_;
};

}  // namespace cohort::net
