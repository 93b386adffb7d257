#include "net/stripes.h"

#include "base/check.h"

#include <array>
#include <memory>

namespace cohort::net {
namespace {

constexpr std::uint64_t kAlignment = 64;

// What the stripes of one message have in common. All lanes call back from the same thread.
struct Common {
  OutStream::Sent sent;
  std::size_t num_missing = 0;
  Status outcome{};
};

OutStream::Sent share(OutStream::Sent sent, std::size_t num_lanes) {
  if (!sent) return {};
  const auto common = std::make_shared<Common>(Common{std::move(sent), num_lanes});
  return [common](const Status& outcome) {
    if (common->outcome) common->outcome = outcome;
    if (--common->num_missing == 0) common->sent(common->outcome);
  };
}

}  // namespace

Stripe stripe_of(std::uint64_t size_bytes, std::size_t lane, std::size_t num_lanes) {
  std::uint64_t step = size_bytes / num_lanes;
  if (step >= kAlignment) step -= step % kAlignment;
  const std::uint64_t offset = lane * step;
  return {offset, lane + 1 == num_lanes ? size_bytes - offset : step};
}

void add_striped(std::span<OutStream* const> lanes, std::uint64_t number, const comm::FrameHeader& header,
                 std::span<const std::byte> payload, OutStream::Sent sent) {
  COHORT_CHECK_GE(payload.size(), lanes.size());
  comm::FrameHeader each{.channel = comm::Channel::kStriped,
                         .group = header.group,
                         .generation = header.generation,
                         .number = number,
                         .size_bytes = comm::kFrameHeaderBytes};
  std::array<std::byte, comm::kFrameHeaderBytes> heading{};
  comm::encode(header, heading);
  lanes[0]->add(each, heading, {});
  const OutStream::Sent shared = share(std::move(sent), lanes.size());
  each.channel = comm::Channel::kStripe;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const Stripe stripe = stripe_of(payload.size(), lane, lanes.size());
    each.tag = stripe.offset;
    each.size_bytes = stripe.size_bytes;
    lanes[lane]->add(each, payload.subspan(stripe.offset, stripe.size_bytes), shared);
  }
}

}  // namespace cohort::net
