// The part of Neighbours that watches the other members: their processes, heartbeats and messages.
#include "base/units.h"
#include "comm/shared_memory/neighbours.h"
#include "comm/shared_memory/packet_socket.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <unistd.h>

namespace cohort::comm {
namespace {

// Each member beats, and checks the heartbeats of the others, at least this many times per liveness limit.
constexpr std::int64_t kFewestLooks = 10;
constexpr std::chrono::nanoseconds kLongestBetweenLooks = std::chrono::milliseconds(50);

std::chrono::nanoseconds between_looks(std::chrono::nanoseconds liveness) {
  return std::clamp<std::chrono::nanoseconds>(liveness / kFewestLooks, std::chrono::milliseconds(1),
                                              kLongestBetweenLooks);
}

// Why a process that exists shows no sign of life.
std::string likely_reason(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  // The state follows the name, which may contain anything, in brackets.
  const std::size_t end = text.rfind(')');
  const char state = end == std::string::npos || end + 2 >= text.size() ? '?' : text[end + 2];
  if (state == 'T') return "it is stopped (SIGSTOP)";
  if (state == 't') return "a debugger has stopped it";
  if (state == 'D') return "it waits for a disk or for memory";
  return "it gets no CPU time";
}

}  // namespace

void Neighbours::watch() {
  const std::chrono::nanoseconds interval = between_looks(options_.liveness);
  TimePoint next_look = std::chrono::steady_clock::now();
  while (!listen(next_look)) {
    if (const TimePoint now = std::chrono::steady_clock::now(); now >= next_look) {
      look_at_heartbeats();
      next_look = now + interval;
    }
  }
}

bool Neighbours::listen(TimePoint until) {
  std::vector<pollfd> sockets{{.fd = stop_.number(), .events = POLLIN, .revents = 0}};
  std::vector<int> ranks{options_.facts.rank};
  for (int rank = 0; rank < options_.facts.world; ++rank) {
    if (!watched_[static_cast<std::size_t>(rank)]) continue;
    sockets.push_back(
        {.fd = others_[static_cast<std::size_t>(rank)]->socket.number(), .events = POLLIN, .revents = 0});
    ranks.push_back(rank);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  const int ready =
      ::poll(sockets.data(), sockets.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  // Before the thread stops, a farewell that has come is heard: the arena is not shared with its sender then.
  for (std::size_t i = 1; ready > 0 && i < sockets.size(); ++i) {
    if (sockets[i].revents != 0) listen_to(ranks[i]);
  }
  return ready > 0 && sockets[0].revents != 0;
}

void Neighbours::listen_to(int rank) {
  const Neighbour& other = *others_[static_cast<std::size_t>(rank)];
  Result<std::optional<Packet>> packet = receive_packet(other.socket, kControlMessageCap, TimePoint{});
  if (!packet && packet.error().code() == ErrorCode::kTimedOut) return;
  if (!packet || !*packet) {
    watched_[static_cast<std::size_t>(rank)] = false;
    lose(rank, Loss::Kind::kGone, ended(rank));
    return;
  }
  if (const Result<ControlMessage> message = decode_control_message((*packet)->bytes)) hear(rank, *message);
}

void Neighbours::hear(int rank, const ControlMessage& message) {
  if (const auto* abort = std::get_if<AbortNotice>(&message)) {
    const std::lock_guard lock(mutex_);
    befall_locked(rank, *abort);
    return;
  }
  watched_[static_cast<std::size_t>(rank)] = false;
  arena_.no_longer_shared_with(others_[static_cast<std::size_t>(rank)]->process());
  const std::lock_guard lock(mutex_);
  remember_locked(rank, Loss::Kind::kLeft, left(rank));
  for (auto& [group, membership] : groups_) {
    if (membership.members.contains(rank) && membership.failure->depart(left(rank))) doorbell_.ring();
  }
}

void Neighbours::warn_of(int rank) const {
  if (!options_.warn) return;
  const pid_t process = others_[static_cast<std::size_t>(rank)]->process();
  options_.warn(
      fmt::format("rank {} (process {}) has shown no sign of life for {}{}: {}. It counts as lost after {}.",
                  global_rank(rank), process, format_duration(DefaultLimit::kSilence),
                  calls_that_wait_for(rank), likely_reason(process), format_duration(options_.liveness)));
}

std::string Neighbours::calls_that_wait_for(int rank) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [group, membership] : groups_) {
    if (!membership.members.contains(rank) || !membership.calls.waiting) continue;
    if (const auto call = membership.calls.waiting()) return fmt::format(", while {} waits", *call);
  }
  return "";
}

void Neighbours::look_at_heartbeats() {
  const std::chrono::nanoseconds interval = between_looks(options_.liveness);
  arena_.header().heartbeat.fetch_add(1, std::memory_order_relaxed);
  for (int rank = 0; rank < options_.facts.world; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    if (!watched_[index]) continue;
    Sighting& sighting = sightings_[index];
    const std::uint64_t heartbeat = header_of(rank).heartbeat.load(std::memory_order_relaxed);
    sighting.silent_looks = heartbeat == sighting.heartbeat ? sighting.silent_looks + 1 : 0;
    sighting.heartbeat = heartbeat;
    const std::int64_t looks = std::max(kFewestLooks, options_.liveness / interval);
    // A member without a first heartbeat may still be connecting to others.
    const std::int64_t patience =
        heartbeat == 0 ? looks * (1 + options_.meeting_limit / options_.liveness) : looks - 1;
    if (heartbeat != 0 && sighting.silent_looks == DefaultLimit::kSilence / interval &&
        looks > sighting.silent_looks) {
      warn_of(rank);
    }
    if (sighting.silent_looks < patience) continue;
    watched_[index] = false;
    lose(rank, Loss::Kind::kSilent,
         Error(ErrorCode::kPeerLost,
               fmt::format("rank {} (process {}) has shown no sign of life for {}", global_rank(rank),
                           others_[index]->process(), format_duration(options_.liveness)))
             .with_rank(global_rank(rank))
             .with_remedy(
                 "The process is stopped (SIGSTOP, a debugger) or gets no CPU time. A longer liveness limit "
                 "tolerates that: --liveness, COHORT_LIVENESS, launch.liveness of a job, or "
                 "ContextOptions::liveness."));
  }
}

void Neighbours::stop_watching() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.number(), &one, sizeof one);
  if (watcher_.joinable()) watcher_.join();
}

Error Neighbours::ended(int rank) const {
  return Error(ErrorCode::kPeerLost,
               fmt::format("rank {} (process {}) ended without leaving the group", global_rank(rank),
                           others_[static_cast<std::size_t>(rank)]->process()))
      .with_rank(global_rank(rank))
      .with_remedy(fmt::format(
          "Look at the output of rank {}; a SIGKILL may come from the kernel's out-of-memory killer.",
          global_rank(rank)));
}

Error Neighbours::left(int rank) const {
  return Error(ErrorCode::kPeerLost, fmt::format("rank {} has left the group", global_rank(rank)))
      .with_rank(global_rank(rank))
      .with_remedy("Make the same calls on every rank before one of them ends.");
}

void Neighbours::remember_locked(int rank, Loss::Kind kind, const Error& why) {
  losses_.emplace(rank, Lost{kind, why});
  num_losses_.fetch_add(1, std::memory_order_release);
  doorbell_.ring();
}

void Neighbours::lose(int rank, Loss::Kind kind, const Error& why) {
  const std::lock_guard lock(mutex_);
  remember_locked(rank, kind, why);
  for (auto& [group, membership] : groups_) {
    if (membership.members.contains(rank)) membership.failure->fail(why);
  }
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
  const int told_by = global_rank(rank);
  const Error error = Error(notice.code, fmt::format("rank {} failed the group: {}", told_by, notice.text))
                          .with_rank(notice.about.value_or(told_by))
                          .with_remedy(fmt::format("Look at rank {} first.", told_by));
  if (failure.fail(error)) doorbell_.ring();
}

}  // namespace cohort::comm
