#include "comm/shared_memory/neighbours.h"

#include "base/system_error.h"
#include "comm/shared_memory/packet_socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cohort::comm {
namespace {

// So often within the liveness limit every member shows a sign of life, and looks for those of the others.
constexpr int kLooks = 10;

Error ended(int rank, pid_t process) {
  return Error(ErrorCode::kPeerLost, fmt::format("rank {} (process {}) ended", rank, process))
      .with_remedy("Its own output says why; a signal such as SIGKILL may come from a lack of memory.");
}

Error left(int rank) {
  return Error(ErrorCode::kPeerLost, fmt::format("rank {} has left the group", rank))
      .with_remedy("Let every rank make the same calls before it ends.");
}

}  // namespace

Result<std::unique_ptr<Neighbours>> Neighbours::meet(Arena& arena, const NeighboursOptions& options) {
  // Of an earlier generation.
  arena.header().heartbeat.store(0, std::memory_order_relaxed);
  arena.header().first_block.store(0, std::memory_order_relaxed);
  arena.header().rings.store(0, std::memory_order_relaxed);
  const MeetingOptions meeting{
      .name = options.name,
      .rank = options.rank,
      .world = options.world,
      .generation = options.generation,
      .deadline = deadline_after(std::chrono::steady_clock::now(), options.meeting_limit)};
  COHORT_ASSIGN_OR_RETURN(std::vector<std::optional<Neighbour>> others, comm::meet(meeting, arena));
  std::vector<pid_t> staying;
  for (const auto& other : others) {
    if (other) staying.push_back(other->process);
  }
  COHORT_RETURN_IF_ERROR(arena.fence(staying, meeting.deadline));
  Descriptor stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.is_open()) return system_error("cannot make an event", errno);
  return std::unique_ptr<Neighbours>(new Neighbours(arena, options, std::move(others), std::move(stop)));
}

Neighbours::Neighbours(Arena& arena, const NeighboursOptions& options,
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
  const std::uint64_t one = 1;
  (void)!::write(stop_.number(), &one, sizeof one);
  watcher_.join();
  for (const auto& other : others_) {
    if (other) (void)send_packet(other->line, encode(Farewell{}), Descriptor());
  }
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
  for (int rank = 0; rank < options_.world; ++rank) {
    if (header_of(rank).first_block.load(std::memory_order_acquire) == 0) return rank;
  }
  return std::nullopt;
}

Result<std::vector<std::uint64_t>> Neighbours::exchange_first_blocks(std::uint64_t own_offset) {
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), options_.meeting_limit);
  arena_.header().first_block.store(own_offset, std::memory_order_release);
  for (int rank = 0; rank < options_.world; ++rank) ring_now(header_of(rank));
  while (const std::optional<int> missing = without_first_block()) {
    if (const std::optional<Error> loss = loss_of(*missing)) return *loss;
    if (std::chrono::steady_clock::now() >= deadline) {
      return Error(ErrorCode::kTimedOut,
                   fmt::format("rank {}: rank {} came to the meeting '{}' (generation {}) "
                               "and has not gone on",
                               options_.rank, *missing, options_.name, options_.generation))
          .with_remedy("Look what that rank does instead.");
    }
    const std::uint32_t ticket = doorbell_.arm();
    if (without_first_block() && !loss_of(*missing)) doorbell_.sleep(ticket, deadline);
    doorbell_.disarm();
  }
  std::vector<std::uint64_t> offsets;
  for (int rank = 0; rank < options_.world; ++rank) {
    offsets.push_back(header_of(rank).first_block.load(std::memory_order_acquire));
  }
  return offsets;
}

Progress& Neighbours::progress() {
  const std::lock_guard lock(mutex_);
  if (!progress_) progress_ = std::make_unique<Progress>(doorbell_);
  return *progress_;
}

void Neighbours::join(std::uint64_t group, std::span<const int> members, GroupFailure& failure) {
  const std::lock_guard lock(mutex_);
  groups_.emplace(group, Membership{{members.begin(), members.end()}, &failure});
  if (lost_) failure.fail(*lost_);
  for (const int member : members) {
    if (const auto it = losses_.find(member); it != losses_.end()) failure.depart(it->second);
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
  const std::vector<std::byte> bytes = encode(AbortNotice{group, why.code(), why.text()});
  for (const int member : members) {
    const auto& other = others_[static_cast<std::size_t>(member)];
    // A line that is full or closed belongs to somebody who will notice by other means.
    if (other) (void)send_packet(other->line, bytes, Descriptor());
  }
}

void Neighbours::watch() {
  const auto between_looks =
      std::max<std::chrono::nanoseconds>(options_.liveness / kLooks, std::chrono::milliseconds(1));
  TimePoint next_look = std::chrono::steady_clock::now();
  while (true) {
    std::vector<pollfd> lines{{.fd = stop_.number(), .events = POLLIN, .revents = 0}};
    std::vector<int> ranks{options_.rank};
    for (int rank = 0; rank < options_.world; ++rank) {
      if (!watched_[static_cast<std::size_t>(rank)]) continue;
      lines.push_back(
          {.fd = others_[static_cast<std::size_t>(rank)]->line.number(), .events = POLLIN, .revents = 0});
      ranks.push_back(rank);
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(next_look - std::chrono::steady_clock::now());
    const int ready =
        ::poll(lines.data(), lines.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready > 0 && lines[0].revents != 0) return;
    for (std::size_t i = 1; ready > 0 && i < lines.size(); ++i) {
      if (lines[i].revents != 0) listen_to(ranks[i]);
    }
    if (const TimePoint now = std::chrono::steady_clock::now(); now >= next_look) {
      look_at_heartbeats();
      next_look = now + between_looks;
    }
  }
}

void Neighbours::listen_to(int rank) {
  const Neighbour& other = *others_[static_cast<std::size_t>(rank)];
  Result<std::optional<Packet>> packet = receive_packet(other.line, kLineMessageCap, TimePoint{});
  if (!packet && packet.error().code() == ErrorCode::kTimedOut) return;
  if (!packet || !*packet) {
    watched_[static_cast<std::size_t>(rank)] = false;
    lose(rank, ended(rank, other.process));
    return;
  }
  if (const Result<LineMessage> message = decode_line_message((*packet)->bytes)) hear(rank, *message);
}

void Neighbours::hear(int rank, const LineMessage& message) {
  if (const auto* abort = std::get_if<AbortNotice>(&message)) {
    const std::lock_guard lock(mutex_);
    befall_locked(rank, *abort);
    return;
  }
  watched_[static_cast<std::size_t>(rank)] = false;
  arena_.no_longer_shared_with(others_[static_cast<std::size_t>(rank)]->process);
  const std::lock_guard lock(mutex_);
  remember_locked(rank, left(rank));
  for (auto& [group, membership] : groups_) {
    if (membership.members.contains(rank) && membership.failure->depart(left(rank))) doorbell_.ring();
  }
}

void Neighbours::look_at_heartbeats() {
  arena_.header().heartbeat.fetch_add(1, std::memory_order_relaxed);
  for (int rank = 0; rank < options_.world; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    if (!watched_[index]) continue;
    Sighting& sighting = sightings_[index];
    const std::uint64_t heartbeat = header_of(rank).heartbeat.load(std::memory_order_relaxed);
    sighting.silent_looks = heartbeat == sighting.heartbeat ? sighting.silent_looks + 1 : 0;
    sighting.heartbeat = heartbeat;
    // Before its first beat it may still be meeting others.
    const std::int64_t patience =
        heartbeat == 0 ? kLooks * (1 + options_.meeting_limit / options_.liveness) : kLooks - 1;
    if (sighting.silent_looks < patience) continue;
    watched_[index] = false;
    lose(rank,
         Error(ErrorCode::kPeerLost,
               fmt::format("rank {} (process {}) has shown no sign of life for {} ms", rank,
                           others_[index]->process,
                           std::chrono::duration_cast<std::chrono::milliseconds>(options_.liveness).count()))
             .with_remedy("It is stopped (SIGSTOP, a debugger) or starved; allow it more with the liveness "
                          "limit (launch.liveness of a job, COHORT_LIVENESS of torch's groups)."));
  }
}

std::optional<Error> Neighbours::loss_of(int rank) const {
  const std::lock_guard lock(mutex_);
  const auto it = losses_.find(rank);
  return it == losses_.end() ? std::nullopt : std::optional<Error>(it->second);
}

void Neighbours::remember_locked(int rank, const Error& why) {
  losses_.emplace(rank, why);
  num_losses_.fetch_add(1, std::memory_order_release);
  doorbell_.ring();
}

void Neighbours::lose(int rank, const Error& why) {
  const std::lock_guard lock(mutex_);
  remember_locked(rank, why);
  if (!lost_) lost_ = why;
  for (auto& [group, membership] : groups_) membership.failure->fail(why);
  doorbell_.ring();
}

void Neighbours::befall_locked(int rank, const AbortNotice& notice) {
  const auto it = groups_.find(notice.group);
  if (it == groups_.end()) {
    if (!closed_.contains(notice.group)) befallen_.emplace(notice.group, std::pair(rank, notice));
    return;
  }
  GroupFailure& failure = *it->second.failure;
  if (notice.code == ErrorCode::kPeerLost && notice.text.empty()) {
    if (failure.depart(left(rank))) doorbell_.ring();
    return;
  }
  const Error error = Error(notice.code, fmt::format("rank {} ended the group: {}", rank, notice.text))
                          .with_remedy(fmt::format("Look at rank {} first.", rank));
  if (failure.fail(error)) doorbell_.ring();
}

}  // namespace cohort::comm
