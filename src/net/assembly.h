#pragma once

#include "net/in_stream.h"
#include "net/stripes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cohort::net {

/// Puts striped messages (net/stripes.h) together from what the lanes bring, one at a time and in the order
/// of lane 0; messages that are not striped pass through.
///
/// Threads: one at a time.
/// Lifetime: the sink of whole messages must outlive it.
/// Failure: kCorrupt for what add_striped() does not write: stripes of another number, place or size, twice,
/// or of no message.
/// Cost: stripes are read to where the sink wants the whole payload.
class Assembly {
 public:
  Assembly(std::size_t num_lanes, MessageSink& whole) : num_lanes_(num_lanes), whole_(whole) {}

  // As those of MessageSink, for each lane.
  Result<bool> admit(std::size_t lane, const comm::FrameHeader& header);
  std::span<std::byte> place(std::size_t lane, const comm::FrameHeader& header);
  Status arrived(std::size_t lane, const comm::FrameHeader& header);
  Status taken_back(std::size_t lane, const comm::FrameHeader& header);

 private:
  enum class Outcome { kWhole, kIncomplete };

  Result<bool> admit_stripe(std::size_t lane, const comm::FrameHeader& header) const;
  Result<bool> admit_next(const comm::FrameHeader& header);
  bool fits(std::size_t lane, const comm::FrameHeader& header) const;
  Status open();
  void finish_stripe(std::size_t lane, Outcome outcome);

  const std::size_t num_lanes_;
  MessageSink& whole_;
  std::array<std::byte, comm::kFrameHeaderBytes> heading_{};
  std::optional<comm::FrameHeader> message_;             // whose stripes come now
  std::uint64_t num_headings_ = 0;                       // that came
  std::array<std::uint64_t, kMostLanes> num_stripes_{};  // that each lane has brought
  std::size_t num_missing_ = 0;                          // stripes of the message
  Outcome outcome_ = Outcome::kWhole;
};

}  // namespace cohort::net
