#include "comm/shared_memory/neighbours.h"

#include "base/system_error.h"
#include "comm/shared_memory/packet_socket.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cohort::comm {

Result<std::unique_ptr<Neighbours>> Neighbours::meet(Arena& arena, const SharedMemoryOptions& options) {
  if (options.facts.world > kMostMembers) {  // every staging buffer is divided among all ranks
    return Error(ErrorCode::kUsage, fmt::format("{} ranks on one host, at most {} are supported",
                                                options.facts.world, kMostMembers))
        .with_remedy("Start fewer ranks on this host.");
  }
  // Values of an earlier generation are cleared.
  arena.header().heartbeat.store(0, std::memory_order_relaxed);
  arena.header().first_block.store(0, std::memory_order_relaxed);
  arena.header().rings.store(0, std::memory_order_relaxed);
  const MeetingOptions meeting{
      .name = options.rendezvous,
      .facts = options.facts,
      .members = options.members,
      .deadline = deadline_after(std::chrono::steady_clock::now(), options.meeting_limit),
      .hopeless = options.hopeless};
  COHORT_ASSIGN_OR_RETURN(std::vector<std::optional<Neighbour>> others, comm::meet(meeting, arena));
  std::vector<pid_t> staying;
  for (const auto& other : others) {
    if (other) staying.push_back(other->process());
  }
  COHORT_RETURN_IF_ERROR(arena.fence(staying, meeting.deadline));
  Descriptor stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.is_open()) return system_error("cannot create an eventfd", errno);
  return std::unique_ptr<Neighbours>(new Neighbours(arena, options, std::move(others), std::move(stop)));
}

Neighbours::Neighbours(Arena& arena, const SharedMemoryOptions& options,
                       std::vector<std::optional<Neighbour>> others, Descriptor stop)
    : arena_(arena),
      options_(options),
      doorbell_(arena.header()),
      others_(std::move(others)),
      stop_(std::move(stop)),
      watched_(others_.size(), false),
      sightings_(others_.size()) {
  for (std::size_t i = 0; i < others_.size(); ++i) watched_[i] = others_[i].has_value();
  watcher_ = std::thread([this] { watch(); });
}

Neighbours::~Neighbours() {
  progress_.reset();
  stop_watching();
  if (!is_closed_) say_farewell();
}

void Neighbours::say_farewell() {
  for (const auto& other : others_) {
    if (other) (void)send_packet(other->socket, encode(Farewell{}), Descriptor());
  }
}

std::vector<std::uint64_t> Neighbours::fail_all(const Error& why) {
  std::vector<std::uint64_t> failed;
  const std::lock_guard lock(mutex_);
  if (end_) return failed;
  end_ = why;
  for (auto& [group, membership] : groups_) {
    if (membership.failure->fail(why)) failed.push_back(group);
  }
  doorbell_.ring();
  return failed;
}

void Neighbours::end(const Error& why) {
  for (const std::uint64_t group : fail_all(why)) tell(group, why);
}

bool Neighbours::is_busy() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(groups_.begin(), groups_.end(), [](const auto& entry) {
    const GroupCalls& calls = entry.second.calls;
    return calls.is_busy && calls.is_busy();
  });
}

// A call that is still on its way out may write to buffers in the arenas of other members, which use them
// again in the next generation.
Status Neighbours::close(const Error& why, TimePoint deadline, const std::function<void()>& before_farewell) {
  (void)fail_all(why);
  while (is_busy()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return Error(ErrorCode::kTimedOut,
                   fmt::format("rank {}: a call of generation {} still runs on another thread",
                               global_rank(options_.facts.rank), options_.facts.generation))
          .with_remedy("End the threads that use groups of the old generation before form().");
    }
    doorbell_.ring();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (progress_) progress_->stop();
  before_farewell();
  stop_watching();
  say_farewell();
  // Closed by the destructor: another thread may be about to tell() of a failure.
  for (const auto& other : others_) {
    if (other) (void)::shutdown(other->socket.number(), SHUT_RDWR);
  }
  is_closed_ = true;
  return {};
}

std::vector<Loss> Neighbours::losses() const {
  const std::lock_guard lock(mutex_);
  std::vector<Loss> all;
  for (const auto& [rank, lost] : losses_) all.push_back({rank, lost.kind});
  return all;
}

Witness Neighbours::take_witness(int rank) {
  return std::move(others_[static_cast<std::size_t>(rank)]->witness);
}

std::byte* Neighbours::memory_of(int rank) const {
  const auto& other = others_[static_cast<std::size_t>(rank)];
  return other ? other->arena.data() : arena_.data();
}

std::size_t Neighbours::memory_bytes_of(int rank) const {
  const auto& other = others_[static_cast<std::size_t>(rank)];
  return other ? other->arena.size_bytes() : arena_.capacity_bytes();
}

std::optional<int> Neighbours::without_first_block() const {
  for (int rank = 0; rank < options_.facts.world; ++rank) {
    if (header_of(rank).first_block.load(std::memory_order_acquire) == 0) return rank;
  }
  return std::nullopt;
}

Result<std::vector<std::uint64_t>> Neighbours::exchange_first_blocks(std::uint64_t own_offset) {
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), options_.meeting_limit);
  // The first heartbeat: the watcher thread may not have run yet, and a member that stops from now on is
  // lost.
  arena_.header().heartbeat.fetch_add(1, std::memory_order_relaxed);
  arena_.header().first_block.store(own_offset, std::memory_order_release);
  for (int rank = 0; rank < options_.facts.world; ++rank) ring_now(header_of(rank));
  while (const std::optional<int> missing = without_first_block()) {
    if (const std::optional<Error> loss = loss_of(*missing)) return *loss;
    if (std::chrono::steady_clock::now() >= deadline) {
      return Error(ErrorCode::kTimedOut,
                   fmt::format("rank {}: rank {} connected to rendezvous '{}' (generation {}) "
                               "but did not publish its first block before the deadline",
                               global_rank(options_.facts.rank), global_rank(*missing), options_.rendezvous,
                               options_.facts.generation))
          .with_rank(global_rank(*missing))
          .with_remedy("Look at what that rank is doing.");
    }
    const std::uint32_t ticket = doorbell_.arm();
    if (without_first_block() && !loss_of(*missing)) doorbell_.sleep(ticket, deadline);
    doorbell_.disarm();
  }
  std::vector<std::uint64_t> offsets;
  for (int rank = 0; rank < options_.facts.world; ++rank) {
    offsets.push_back(header_of(rank).first_block.load(std::memory_order_acquire));
  }
  return offsets;
}

Progress& Neighbours::progress() {
  const std::lock_guard lock(mutex_);
  if (!progress_) progress_ = std::make_unique<Progress>(doorbell_);
  return *progress_;
}

void Neighbours::join(std::uint64_t group, std::span<const int> members, GroupFailure& failure,
                      GroupCalls calls) {
  const std::lock_guard lock(mutex_);
  groups_.emplace(group, Membership{{members.begin(), members.end()}, &failure, std::move(calls)});
  if (end_) failure.fail(*end_);
  for (const int member : members) {
    const auto it = losses_.find(member);
    if (it == losses_.end()) continue;
    it->second.kind == Loss::Kind::kLeft ? failure.depart(it->second.why) : failure.fail(it->second.why);
  }
  if (const auto it = befallen_.find(group); it != befallen_.end()) {
    befall_locked(it->second.first, it->second.second);
  }
}

void Neighbours::leave(std::uint64_t group) {
  const std::lock_guard lock(mutex_);
  groups_.erase(group);
  closed_.insert(group);
  befallen_.erase(group);
}

void Neighbours::tell(std::uint64_t group, const Error& why) {
  std::set<int> members;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = groups_.find(group); it != groups_.end()) members = it->second.members;
  }
  const std::vector<std::byte> bytes = encode(AbortNotice{group, why.code(), why.rank(), why.text()});
  for (const int member : members) {
    const auto& other = others_[static_cast<std::size_t>(member)];
    // If the socket is full or closed, that member notices by its own deadline or has ended.
    if (other) (void)send_packet(other->socket, bytes, Descriptor());
  }
}

std::optional<Error> Neighbours::loss_of(int rank) const {
  const std::lock_guard lock(mutex_);
  const auto it = losses_.find(rank);
  return it == losses_.end() ? std::nullopt : std::optional<Error>(it->second.why);
}

}  // namespace cohort::comm
