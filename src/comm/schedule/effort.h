#pragma once

#include <cstddef>

namespace cohort::comm {

/// What an algorithm asks of the rank that has most to do.
struct Effort {
  std::size_t steps = 0;  ///< messages one after another, when a rank sends one and receives one at a time
  /// Elements sent or received, whichever is more; both where one cannot overlap the other.
  std::size_t moved = 0;
  std::size_t combined = 0;   ///< elements combined
  std::size_t exposed = 0;    ///< of those, elements combined while nothing moves: less with more chunks
  std::size_t longest = 0;    ///< elements of the longest message that can be cut into chunks
  std::size_t relayed = 0;    ///< of those moved, elements that are passed on chunk by chunk
  std::size_t peers = 1;      ///< ranks that it talks to at once, or in turn
  std::size_t scratch = 0;    ///< elements of scratch memory
  std::size_t far_steps = 0;  ///< further messages, between hosts: of an algorithm that knows hosts
  std::size_t far_moved = 0;  ///< further elements, between hosts
};

/// What links and memory ask for it: the α, β and γ of the formulas. Defaults are round numbers for ranks of
/// one host that talk over a local socket; whoever can measure, should.
struct Prices {
  double step_s = 20e-6;            ///< α inside a host
  double byte_s = 0.5e-9;           ///< β inside a host
  double combined_byte_s = 0.1e-9;  ///< γ
  /// Of γ, for what is combined while messages are under way: not nothing, as one thread looks after both.
  double hidden_share = 0.25;
  double far_step_s = 50e-6;  ///< α between hosts
  double far_byte_s = 1e-9;   ///< β between hosts
  /// Of β between hosts, for each further rank one talks to: every connection has to find its pace anew, and
  /// several share a cable unevenly.
  double far_peer_share = 0.05;
  /// Of β between hosts, for what is passed on when all of it has come: everybody waits for whoever is late.
  double far_wait_share = 0.08;
};

}  // namespace cohort::comm
