#pragma once

#include "comm/transport/transport.h"
#include "ucx/envelope.h"

#include <deque>
#include <memory>
#include <vector>

namespace cohort::ucx {

class Link;

/// A message that UCX has and has not finished.
struct Outgoing {
  Link* link = nullptr;
  comm::FrameHeader header{};
  comm::Transport::Sent sent{};
  std::vector<std::byte> room{};  // its envelope, and a short payload; kept for the next one
  bool reads_payload = false;     // the caller's memory is in use
  std::size_t place_in_link = 0;
};

/// A message whose `sent` waits to be called.
struct Finished {
  comm::FrameHeader header{};
  comm::Transport::Sent sent{};
  Status outcome{};
};

/// The sends of one transport: those that UCX has, and those that are to be called back.
///
/// Threads: as the worker.
class Sends {
 public:
  Outgoing& begin();
  /// UCX is done with it. `sent` will be called back.
  void finish(Outgoing& outgoing, const Status& outcome);
  /// A message that UCX never had.
  void finish(const comm::FrameHeader& header, comm::Transport::Sent sent, const Status& outcome);

  bool has_finished() const { return !finished_.empty(); }
  Finished take_finished();
  /// Nothing of this group up to this generation is called back any more.
  void forget(std::uint32_t group, std::uint32_t generation);
  void forget_all() { finished_.clear(); }

 private:
  std::vector<std::unique_ptr<Outgoing>> all_;
  std::vector<Outgoing*> free_;
  std::deque<Finished> finished_;
};

}  // namespace cohort::ucx
