#pragma once

#include "net/connection.h"
#include "net/greeting.h"
#include "net/station.h"

#include <functional>
#include <memory>
#include <vector>

namespace cohort::net {

/// Where others connect to us, and show who they are before anything else is heard of them.
///
/// Without a listener nobody comes.
///
/// Threads: one at a time.
/// Failure: a stranger, and whoever takes too long, is turned away without a word.
/// Cost: at most 128 connections at a time wait to be known; for another one the oldest is closed.
class Reception {
 public:
  /// A connection of a member whom the judge has welcomed.
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
