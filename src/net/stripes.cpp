#include "net/stripes.h"

#include "base/check.h"

#include <array>
#include <memory>

namespace cohort::net {
namespace {

constexpr std::uint64_t kAlignment = 64;

// State shared by the stripes of one message. The callbacks of all rails run in the same thread.
struct Common {
  OutStream::Sent sent;
  std::size_t num_missing = 0;
  Status outcome{};
};

OutStream::Sent share(OutStream::Sent sent, std::size_t num_rails) {
  if (!sent) return {};
  const auto common = std::make_shared<Common>(Common{std::move(sent), num_rails});
  return [common](const Status& outcome) {
    if (common->outcome) common->outcome = outcome;
    if (--common->num_missing == 0) common->sent(common->outcome);
  };
}

}  // namespace

Stripe stripe_of(std::uint64_t size_bytes, std::size_t rail, std::size_t num_rails) {
  std::uint64_t step = size_bytes / num_rails;
  if (step >= kAlignment) step -= step % kAlignment;
  const std::uint64_t offset = rail * step;
  return {offset, rail + 1 == num_rails ? size_bytes - offset : step};
}

void add_striped(std::span<OutStream* const> rails, std::uint64_t number, const comm::FrameHeader& header,
                 std::span<const std::byte> payload, OutStream::Sent sent) {
  COHORT_CHECK_GE(payload.size(), rails.size());
  comm::FrameHeader each{.channel = comm::Channel::kStriped,
                         .group = header.group,
                         .generation = header.generation,
                         .number = number,
                         .size_bytes = comm::kFrameHeaderBytes};
  std::array<std::byte, comm::kFrameHeaderBytes> heading{};
  comm::encode(header, heading);
  rails[0]->add(each, heading, {});
  const OutStream::Sent shared = share(std::move(sent), rails.size());
  each.channel = comm::Channel::kStripe;
  for (std::size_t rail = 0; rail < rails.size(); ++rail) {
    const Stripe stripe = stripe_of(payload.size(), rail, rails.size());
    each.tag = stripe.offset;
    each.size_bytes = stripe.size_bytes;
    rails[rail]->add(each, payload.subspan(stripe.offset, stripe.size_bytes), shared);
  }
}

}  // namespace cohort::net
