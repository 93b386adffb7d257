#pragma once

#include "comm/transport/transport.h"
#include "ucx/envelope.h"

#include <deque>
#include <memory>
#include <vector>

namespace cohort::ucx {

class Link;

/// A send that UCX has not finished.
struct Outgoing {
  Link* link = nullptr;
  comm::FrameHeader header{};
  comm::Transport::Sent sent{};
  std::vector<std::byte> room{};  // envelope and short payload; its capacity is reused
  bool reads_payload = false;     // UCX reads the caller's memory
  std::size_t index_in_link = 0;
};

/// A send that is done, and whose `sent` is still to be called.
struct Finished {
  comm::FrameHeader header{};
  comm::Transport::Sent sent{};
  Status outcome{};
};

/// The sends of one transport: those that UCX has, and those whose callback is due.
///
/// Threads: as the worker.
class Sends {
 public:
  Outgoing& begin();
  /// UCX is done with the send; its `sent` will be called.
  void finish(Outgoing& outgoing, const Status& outcome);
  /// A send that was never handed to UCX.
  void finish(const comm::FrameHeader& header, comm::Transport::Sent sent, const Status& outcome);

  bool has_finished() const { return !finished_.empty(); }
  Finished take_finished();
  /// Drops the callbacks of this group up to this generation.
  void forget(std::uint32_t group, std::uint32_t generation);
  void forget_all() { finished_.clear(); }

 private:
  std::vector<std::unique_ptr<Outgoing>> all_;
  std::vector<Outgoing*> free_;
  std::deque<Finished> finished_;
};

}  // namespace cohort::ucx
