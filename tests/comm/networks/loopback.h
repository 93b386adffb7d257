#pragma once

#include "comm/transport/transport.h"

#include <memory>
#include <vector>

namespace cohort::comm {

class LoopbackWires;

/// A network inside one process: its members are threads. A payload is copied once, from the sender's memory
/// to the buffer that the receiver's sink gives, by the receiver's advance(); the send is complete after that
/// copy.
///
/// Threads: take() and num_members() from any thread.
/// Lifetime: the network may die before its transports. A transport that dies or is closed is lost for the
/// others.
class LoopbackNetwork {
 public:
  explicit LoopbackNetwork(int num_members);

  int num_members() const;
  /// The transport of one member; each may be taken once.
  std::unique_ptr<Transport> take(int member);

 private:
  std::shared_ptr<LoopbackWires> wires_;
};

std::shared_ptr<LoopbackNetwork> make_loopback(int num_members);

}  // namespace cohort::comm
