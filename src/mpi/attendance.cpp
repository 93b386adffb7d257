#include "mpi/attendance.h"

#include <algorithm>

namespace cohort::mpi {
namespace {

using comm::Channel;

// How long others may take to answer: their cores may be busy.
constexpr std::chrono::milliseconds kGrace(500);

// The numbers of groups are below: questions of a group have one of their own.
constexpr std::uint32_t kOfAttendance = std::uint32_t{1} << 31;

comm::Line::Place of_attendance(comm::Line::Place place) {
  place.group |= kOfAttendance;
  return place;
}

}  // namespace

Attendance::Attendance(Member& member, comm::Line::Place place)
    : member_(member), place_(of_attendance(std::move(place))) {
  listen(Channel::kQuery, &Attendance::hear_question);
  listen(Channel::kAnswer, &Attendance::hear_answer);
  listen(Channel::kAbort, &Attendance::hear_farewell);
}

Attendance::~Attendance() {
  for (const Channel channel : {Channel::kQuery, Channel::kAnswer, Channel::kAbort}) {
    member_.exchange().remove_handler(channel, place_.group);
  }
}

void Attendance::listen(Channel channel, void (Attendance::*hear)(int, const comm::FrameHeader&)) {
  member_.exchange().handle(
      channel, place_.group,
      [this, hear](int from, const comm::FrameHeader& header, const std::vector<std::byte>&) {
        const auto at = std::find(place_.members.begin(), place_.members.end(), from);
        if (at == place_.members.end() || header.generation != place_.generation) return;
        (this->*hear)(static_cast<int>(at - place_.members.begin()), header);
      });
}

void Attendance::post(int rank, Channel channel, std::uint64_t number, std::uint64_t count) {
  const comm::FrameHeader header{.channel = channel,
                                 .group = place_.group,
                                 .generation = place_.generation,
                                 .number = number,
                                 .tag = count};
  member_.exchange().send(place_.members[static_cast<std::size_t>(rank)], header, {}, [](const Status&) {});
}

void Attendance::ask(std::uint64_t sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (roll_call_) return;
    roll_call_.emplace(0, sequence, std::chrono::steady_clock::now() + kGrace);
  }
  for (int r = 0; r < num_ranks(); ++r) {
    if (r != place_.rank) post(r, Channel::kQuery, sequence, 0);
  }
}

std::optional<std::vector<int>> Attendance::missing() const {
  const std::lock_guard lock(mutex_);
  if (!roll_call_) return std::vector<int>();
  const bool is_over =
      roll_call_->is_complete(num_ranks()) || std::chrono::steady_clock::now() >= roll_call_->until();
  if (!is_over) return std::nullopt;
  return roll_call_->missing(place_.rank, num_ranks());
}

void Attendance::leave() {
  for (int r = 0; r < num_ranks(); ++r) {
    if (r != place_.rank) post(r, Channel::kAbort, 0, num_calls_.load(std::memory_order_relaxed));
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
