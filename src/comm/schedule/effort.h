#pragma once

#include <cstddef>

namespace cohort::comm {

/// The cost of an algorithm, counted on the rank that has most to do.
struct Effort {
  std::size_t steps = 0;  ///< sequential messages, if a rank sends one and receives one at a time
  /// Elements sent or received, whichever is more; the sum where sending and receiving cannot overlap.
  std::size_t moved = 0;
  std::size_t combined = 0;  ///< elements combined
  std::size_t exposed = 0;   ///< elements combined while no message is in flight: fewer with more chunks
  std::size_t longest = 0;   ///< elements of the longest message that can be cut into chunks
  std::size_t relayed = 0;   ///< elements that are forwarded chunk by chunk; counted in `moved`, too
  std::size_t peers = 1;     ///< ranks that one rank exchanges messages with
  std::size_t scratch = 0;   ///< elements of scratch memory
  std::size_t far_steps =
      0;  ///< additional sequential messages between hosts, for an algorithm that knows hosts
  std::size_t far_moved = 0;  ///< additional elements moved between hosts
};

/// The α, β and γ of the cost formulas. Defaults are round numbers for ranks of one host connected by local
/// sockets; measured prices are better (see probe_link()).
struct Prices {
  double step_s = 20e-6;            ///< α inside a host
  double byte_s = 0.5e-9;           ///< β inside a host
  double combined_byte_s = 0.1e-9;  ///< γ
  /// The share of γ that combining costs while messages are in flight: not 0, because one thread does both.
  double hidden_share = 0.25;
  double far_step_s = 50e-6;  ///< α between hosts
  double far_byte_s = 1e-9;   ///< β between hosts
  /// The share of β between hosts that each further peer adds: every idle connection has to find its pace
  /// again, and several connections share a link unevenly.
  double far_peer_share = 0.05;
  /// The share of β between hosts for elements that are forwarded only when all of them have arrived: every
  /// rank waits for the latest.
  double far_wait_share = 0.08;
};

}  // namespace cohort::comm
