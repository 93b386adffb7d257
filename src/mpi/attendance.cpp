#include "mpi/attendance.h"

#include <algorithm>

namespace cohort::mpi {
namespace {

using comm::Channel;

// How long the other ranks may take to answer: their cores may be busy.
constexpr std::chrono::milliseconds kGrace(500);

// Messages of attendance have a group number of their own; those of groups are below this bit.
constexpr std::uint32_t kOfAttendance = std::uint32_t{1} << 31;

comm::Line::Membership of_attendance(comm::Line::Membership membership) {
  membership.group |= kOfAttendance;
  return membership;
}

}  // namespace

Attendance::Attendance(Member& member, comm::Line::Membership membership)
    : member_(member), membership_(of_attendance(std::move(membership))) {
  listen(Channel::kQuery, &Attendance::hear_question);
  listen(Channel::kAnswer, &Attendance::hear_answer);
  listen(Channel::kAbort, &Attendance::hear_farewell);
}

Attendance::~Attendance() {
  for (const Channel channel : {Channel::kQuery, Channel::kAnswer, Channel::kAbort}) {
    member_.exchange().remove_handler(channel, membership_.group);
  }
}

void Attendance::listen(Channel channel, void (Attendance::*hear)(int, const comm::FrameHeader&)) {
  member_.exchange().handle(
      channel, membership_.group,
      [this, hear](int from, const comm::FrameHeader& header, const std::vector<std::byte>&) {
        const auto at = std::find(membership_.members.begin(), membership_.members.end(), from);
        if (at == membership_.members.end() || header.generation != membership_.generation) return;
        (this->*hear)(static_cast<int>(at - membership_.members.begin()), header);
      });
}

void Attendance::post(int rank, Channel channel, std::uint64_t number, std::uint64_t count) {
  const comm::FrameHeader header{.channel = channel,
                                 .group = membership_.group,
                                 .generation = membership_.generation,
                                 .number = number,
                                 .tag = count};
  member_.exchange().send(membership_.members[static_cast<std::size_t>(rank)], header, {},
                          [](const Status&) {});
}

void Attendance::ask(std::uint64_t sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (roll_call_) return;
    roll_call_.emplace(0, sequence, std::chrono::steady_clock::now() + kGrace);
  }
  for (int r = 0; r < num_ranks(); ++r) {
    if (r != membership_.rank) post(r, Channel::kQuery, sequence, 0);
  }
}

std::optional<std::vector<int>> Attendance::missing() const {
  const std::lock_guard lock(mutex_);
  if (!roll_call_) return std::vector<int>();
  const bool is_over =
      roll_call_->is_complete(num_ranks()) || std::chrono::steady_clock::now() >= roll_call_->until();
  if (!is_over) return std::nullopt;
  return roll_call_->missing(membership_.rank, num_ranks());
}

void Attendance::leave() {
  for (int r = 0; r < num_ranks(); ++r) {
    if (r != membership_.rank) post(r, Channel::kAbort, 0, num_calls_.load(std::memory_order_relaxed));
  }
}

std::vector<int> Attendance::left_before(std::uint64_t sequence) const {
  std::vector<int> ranks;
  if (!has_anybody_left()) return ranks;
  const std::lock_guard lock(mutex_);
  for (const auto& [rank, num_calls] : left_) {
    if (num_calls < sequence) ranks.push_back(rank);
  }
  return ranks;
}

void Attendance::hear_question(int rank, const comm::FrameHeader& header) {
  post(rank, Channel::kAnswer, header.number, num_calls_.load(std::memory_order_relaxed));
}

void Attendance::hear_answer(int rank, const comm::FrameHeader& header) {
  const std::lock_guard lock(mutex_);
  if (roll_call_ && roll_call_->number() == header.number) roll_call_->answered(rank, header.tag);
}

void Attendance::hear_farewell(int rank, const comm::FrameHeader& header) {
  const std::lock_guard lock(mutex_);
  left_[rank] = header.tag;
  has_anybody_left_.store(true, std::memory_order_release);
}

}  // namespace cohort::mpi
