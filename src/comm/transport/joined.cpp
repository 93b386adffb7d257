#include "comm/transport/joined.h"

#include "base/check.h"

namespace cohort::comm {

JoinedTransport::JoinedTransport(std::unique_ptr<Transport> near, std::unique_ptr<Transport> far,
                                 std::vector<int> near_members)
    : near_members_(std::move(near_members)),
      near_numbers_(static_cast<std::size_t>(far->num_members()), -1),
      near_sink_(near_members_),
      near_(std::move(near)),
      far_(std::move(far)) {
  COHORT_CHECK_EQ(near_members_.size(), static_cast<std::size_t>(near_->num_members()));
  for (std::size_t number = 0; number < near_members_.size(); ++number) {
    near_numbers_[static_cast<std::size_t>(near_members_[number])] = static_cast<int>(number);
  }
  COHORT_CHECK_EQ(near_number(member()), near_->member());
}

void JoinedTransport::open(FrameSink& sink, Doorbell& doorbell) {
  near_sink_.open(sink);
  near_->open(near_sink_, doorbell);
  far_->open(sink, doorbell);
}

void JoinedTransport::send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) {
  const int number = near_number(to);
  if (number >= 0) {
    near_->send(number, header, payload, std::move(sent));
  } else {
    far_->send(to, header, payload, std::move(sent));
  }
}

void JoinedTransport::withdraw(std::uint32_t group, std::uint32_t generation) {
  near_->withdraw(group, generation);
  far_->withdraw(group, generation);
}

void JoinedTransport::give_up(int member, const Error& why) {
  const int number = near_number(member);
  number >= 0 ? near_->give_up(number, why) : far_->give_up(member, why);
}

void JoinedTransport::close() {
  near_->close();
  far_->close();
}

bool JoinedTransport::advance() {
  const bool moved = near_->advance();
  return far_->advance() || moved;
}

}  // namespace cohort::comm
