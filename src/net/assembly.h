#pragma once

#include "base/check.h"
#include "net/in_stream.h"
#include "net/stripes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace cohort::net {

/// Reassembles striped messages (net/stripes.h) from the frames of all rails, one message at a time and in
/// the order of rail 0. Messages that are not striped pass through.
///
/// Threads: one at a time.
/// Lifetime: `whole`, the MessageSink of whole messages, must outlive the assembly.
/// Failure: kCorrupt for frames that add_striped() does not write: a stripe with another number, offset or
/// size than expected, a duplicate, or a stripe without heading.
/// Cost: no copy: stripes are received into the sink's buffer for the whole payload.
template <class Whole>
class Assembly {
 public:
  Assembly(std::size_t num_rails, Whole& whole) : num_rails_(num_rails), whole_(whole) {}

  // The methods of MessageSink, for the frames of one rail.
  Result<bool> admit(std::size_t rail, const comm::FrameHeader& header);
  std::span<std::byte> buffer_for(std::size_t rail, const comm::FrameHeader& header);
  Status arrived(std::size_t rail, const comm::FrameHeader& header);
  Status withdrawn(std::size_t rail, const comm::FrameHeader& header);

 private:
  enum class Outcome { kWhole, kIncomplete };

  Result<bool> admit_stripe(std::size_t rail, const comm::FrameHeader& header) const;
  Result<bool> admit_next(const comm::FrameHeader& header);
  bool fits(std::size_t rail, const comm::FrameHeader& header) const;
  Status open();
  void finish_stripe(std::size_t rail, Outcome outcome);

  const std::size_t num_rails_;
  Whole& whole_;
  std::array<std::byte, comm::kFrameHeaderBytes> heading_{};
  std::optional<comm::FrameHeader> message_;             // the message being assembled
  std::uint64_t num_headings_ = 0;                       // headings received
  std::array<std::uint64_t, kMostRails> num_stripes_{};  // stripes received, by rail
  std::size_t num_missing_ = 0;                          // stripes of `message_` still to come
  Outcome outcome_ = Outcome::kWhole;
};

inline Error corrupt_stripe(std::string words) {
  return Error(ErrorCode::kCorrupt, std::move(words));
}

template <class Whole>
Result<bool> Assembly<Whole>::admit(std::size_t rail, const comm::FrameHeader& header) {
  if (header.channel == comm::Channel::kStripe) return admit_stripe(rail, header);
  if (rail == 0) return admit_next(header);
  if (header.channel == comm::Channel::kFarewell) return true;
  return corrupt_stripe(fmt::format("frame on rail {}: field channel is {}, expected stripe or farewell",
                                    rail, name(header.channel)));
}

template <class Whole>
Result<bool> Assembly<Whole>::admit_stripe(std::size_t rail, const comm::FrameHeader& header) const {
  const std::uint64_t due = num_stripes_[rail] + 1;
  if (header.number != due) {
    return corrupt_stripe(
        fmt::format("stripe on rail {}: field number is {}, expected {}", rail, header.number, due));
  }
  if (due > num_headings_) {
    if (rail == 0) {
      return corrupt_stripe(fmt::format("stripe {} on rail 0, expected its heading before it", due));
    }
    return false;
  }
  if (!fits(rail, header)) {
    const Stripe stripe = stripe_of(message_->size_bytes, rail, num_rails_);
    return corrupt_stripe(fmt::format(
        "stripe {} on rail {}: {} bytes at offset {} for group {}.{}, expected {} at {} for group {}.{}", due,
        rail, header.size_bytes, header.tag, header.group, header.generation, stripe.size_bytes,
        stripe.offset, message_->group, message_->generation));
  }
  return true;
}

// The next stripe of a rail always belongs to `message_`, which stays open until all its stripes have come.
template <class Whole>
bool Assembly<Whole>::fits(std::size_t rail, const comm::FrameHeader& header) const {
  const Stripe stripe = stripe_of(message_->size_bytes, rail, num_rails_);
  return header.group == message_->group && header.generation == message_->generation &&
         header.tag == stripe.offset && (header.size_bytes == stripe.size_bytes || header.size_bytes == 0);
}

template <class Whole>
Result<bool> Assembly<Whole>::admit_next(const comm::FrameHeader& header) {
  if (num_stripes_[0] < num_headings_) {
    return corrupt_stripe(
        fmt::format("frame after heading {} on rail 0: field channel is {}, expected stripe", num_headings_,
                    name(header.channel)));
  }
  if (message_) return false;
  if (header.channel != comm::Channel::kStriped) return whole_.admit(header);
  if (num_rails_ > 1 && header.number == num_headings_ + 1 && header.size_bytes == heading_.size()) {
    return true;
  }
  if (num_rails_ == 1) return corrupt_stripe("heading of a striped message, expected none with one rail");
  return corrupt_stripe(fmt::format("heading: number is {} and size {}, expected {} and {}", header.number,
                                    header.size_bytes, num_headings_ + 1, heading_.size()));
}

template <class Whole>
std::span<std::byte> Assembly<Whole>::buffer_for(std::size_t rail, const comm::FrameHeader& header) {
  if (header.channel == comm::Channel::kStriped) return heading_;
  if (header.channel != comm::Channel::kStripe) return whole_.buffer_for(header);
  const std::span<std::byte> room = whole_.buffer_for(*message_);
  COHORT_CHECK(room.empty() || room.size() == message_->size_bytes, "stripe on rail {}", rail);
  return room.empty() ? room : room.subspan(header.tag, header.size_bytes);
}

template <class Whole>
Status Assembly<Whole>::arrived(std::size_t rail, const comm::FrameHeader& header) {
  if (header.channel == comm::Channel::kStriped) return open();
  if (header.channel == comm::Channel::kStripe) {
    finish_stripe(rail, header.size_bytes == 0 ? Outcome::kIncomplete : Outcome::kWhole);
  } else {
    whole_.arrived(header);
  }
  return {};
}

template <class Whole>
Status Assembly<Whole>::withdrawn(std::size_t rail, const comm::FrameHeader& header) {
  if (header.channel == comm::Channel::kStriped) {
    return corrupt_stripe(
        fmt::format("heading {}: trailer field state is 1 (cancelled), expected 0", header.number));
  }
  if (header.channel == comm::Channel::kStripe) {
    finish_stripe(rail, Outcome::kIncomplete);
  } else {
    whole_.withdrawn(header);
  }
  return {};
}

template <class Whole>
Status Assembly<Whole>::open() {
  COHORT_ASSIGN_OR_RETURN(const comm::FrameHeader header, comm::decode_frame_header(heading_));
  if (!comm::is_for_users(header.channel) || header.size_bytes < num_rails_) {
    return corrupt_stripe(
        fmt::format("header in heading {}: channel {} and {} bytes, expected a user channel and at "
                    "least {} bytes",
                    num_headings_ + 1, name(header.channel), header.size_bytes, num_rails_));
  }
  message_ = header;
  ++num_headings_;
  num_missing_ = num_rails_;
  outcome_ = Outcome::kWhole;
  (void)whole_.buffer_for(header);  // the sink expects this call even if all stripes are cancelled
  return {};
}

template <class Whole>
void Assembly<Whole>::finish_stripe(std::size_t rail, Outcome outcome) {
  ++num_stripes_[rail];
  if (outcome == Outcome::kIncomplete) outcome_ = outcome;
  if (--num_missing_ > 0) return;
  const comm::FrameHeader header = *message_;
  message_.reset();
  outcome_ == Outcome::kWhole ? whole_.arrived(header) : whole_.withdrawn(header);
}

}  // namespace cohort::net
