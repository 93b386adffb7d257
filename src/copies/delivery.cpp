#include "copies/delivery.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::copies {
namespace {

// Calls of the training get their turn between two chunks.
constexpr std::size_t kChunkBytes = std::size_t{4} << 20;

template <class Make>
std::vector<comm::Work> in_chunks(std::size_t size_bytes, const Make& make) {
  std::vector<comm::Work> works;
  for (std::size_t first = 0; first < size_bytes; first += kChunkBytes) {
    works.push_back(make(first, std::min(kChunkBytes, size_bytes - first)));
  }
  return works;
}

Status all_of(const std::vector<comm::Work>& works) {
  Status outcome;
  for (const comm::Work& work : works) {
    Status each = work.wait();
    if (outcome && !each) outcome = std::move(each);
  }
  return outcome;
}

}  // namespace

// Receives come first: a long message is not sent before its receive has started.
void Delivery::start(Communicator& group, const Shelf& shelf, std::size_t slot, const Stamp& stamp) {
  area_ = shelf.own_area();
  slot_ = slot;
  stamp_ = stamp;
  const AreaPlan& plan = shelf.own_plan();
  for (std::size_t parcel = 1; parcel < plan.parcels.size(); ++parcel) {
    const Parcel& each = plan.parcels[parcel];
    area_.break_seal(slot, parcel);
    incoming_.push_back({parcel, in_chunks(each.size_bytes, [&](std::size_t first, std::size_t count) {
                           const std::span bytes(area_.at(slot, each.offset + first), count);
                           return group.start(recv(bytes, each.from));
                         })});
  }
  sent_ = in_chunks(plan.sent_bytes, [&](std::size_t first, std::size_t count) {
    const std::span<const std::byte> bytes(area_.at(slot, first), count);
    return group.start(send(bytes, plan.keeper));
  });
}

Status Delivery::finish() {
  Status outcome = all_of(sent_).within("a copy was not sent to its keeper");
  for (const Incoming& each : incoming_) {
    Status received = all_of(each.works);
    if (received) area_.set_seal(slot_, each.parcel, stamp_);
    if (outcome && !received) outcome = std::move(received).within("a copy was not received");
  }
  sent_.clear();
  incoming_.clear();
  return outcome;
}

}  // namespace cohort::copies
