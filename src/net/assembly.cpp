#include "net/assembly.h"

#include "base/check.h"

#include <fmt/format.h>

namespace cohort::net {

using comm::Channel;
using comm::FrameHeader;

namespace {

Error corrupt(std::string words) {
  return Error(ErrorCode::kCorrupt, std::move(words));
}

}  // namespace

Result<bool> Assembly::admit(std::size_t lane, const FrameHeader& header) {
  if (header.channel == Channel::kStripe) return admit_stripe(lane, header);
  if (lane == 0) return admit_next(header);
  if (header.channel == Channel::kFarewell) return true;
  return corrupt(
      fmt::format("lane {} brings a message of channel {}, not a stripe", lane, name(header.channel)));
}

Result<bool> Assembly::admit_stripe(std::size_t lane, const FrameHeader& header) const {
  const std::uint64_t due = num_stripes_[lane] + 1;
  if (header.number != due) {
    return corrupt(fmt::format("lane {} brings stripe {} where {} is due", lane, header.number, due));
  }
  if (due > num_headings_) {
    if (lane == 0) return corrupt("a stripe belongs to no message");
    return false;
  }
  if (!fits(lane, header)) {
    return corrupt(fmt::format("lane {} brings {} bytes at {} of a message of {}", lane, header.size_bytes,
                               header.tag, message_->size_bytes));
  }
  return true;
}

// A stripe that is due belongs to the message that is open: that one is not closed without it.
bool Assembly::fits(std::size_t lane, const FrameHeader& header) const {
  const Stripe stripe = stripe_of(message_->size_bytes, lane, num_lanes_);
  return header.group == message_->group && header.generation == message_->generation &&
         header.tag == stripe.offset && (header.size_bytes == stripe.size_bytes || header.size_bytes == 0);
}

Result<bool> Assembly::admit_next(const FrameHeader& header) {
  if (num_stripes_[0] < num_headings_) return corrupt("a message comes where a stripe is due");
  if (message_) return false;
  if (header.channel != Channel::kStriped) return whole_.admit(header);
  if (num_lanes_ > 1 && header.number == num_headings_ + 1 && header.size_bytes == heading_.size()) {
    return true;
  }
  return corrupt(fmt::format("heading {} comes where {} is due, for {} lanes", header.number,
                             num_headings_ + 1, num_lanes_));
}

std::span<std::byte> Assembly::place(std::size_t lane, const FrameHeader& header) {
  if (header.channel == Channel::kStriped) return heading_;
  if (header.channel != Channel::kStripe) return whole_.place(header);
  const std::span<std::byte> room = whole_.place(*message_);
  COHORT_CHECK(room.empty() || room.size() == message_->size_bytes, "lane {} has no room", lane);
  return room.empty() ? room : room.subspan(header.tag, header.size_bytes);
}

Status Assembly::arrived(std::size_t lane, const FrameHeader& header) {
  if (header.channel == Channel::kStriped) return open();
  if (header.channel == Channel::kStripe) {
    finish_stripe(lane, header.size_bytes == 0 ? Outcome::kIncomplete : Outcome::kWhole);
  } else {
    whole_.arrived(header);
  }
  return {};
}

Status Assembly::taken_back(std::size_t lane, const FrameHeader& header) {
  if (header.channel == Channel::kStriped) return corrupt("a heading was taken back");
  if (header.channel == Channel::kStripe) {
    finish_stripe(lane, Outcome::kIncomplete);
  } else {
    whole_.taken_back(header);
  }
  return {};
}

Status Assembly::open() {
  COHORT_ASSIGN_OR_RETURN(const FrameHeader header, comm::decode_frame_header(heading_));
  if (!comm::is_for_users(header.channel) || header.size_bytes < num_lanes_) {
    return corrupt(fmt::format("a message of channel {} and {} bytes cannot be striped", name(header.channel),
                               header.size_bytes));
  }
  message_ = header;
  ++num_headings_;
  num_missing_ = num_lanes_;
  outcome_ = Outcome::kWhole;
  (void)whole_.place(header);  // whatever becomes of the stripes
  return {};
}

void Assembly::finish_stripe(std::size_t lane, Outcome outcome) {
  ++num_stripes_[lane];
  if (outcome == Outcome::kIncomplete) outcome_ = outcome;
  if (--num_missing_ > 0) return;
  const FrameHeader header = *message_;
  message_.reset();
  outcome_ == Outcome::kWhole ? whole_.arrived(header) : whole_.taken_back(header);
}

}  // namespace cohort::net
