#include "world/host_witnesses.h"

#include <fmt/format.h>

namespace cohort::world {
namespace {

using comm::BallotSlot;

void write_set(const std::vector<bool>& from, BallotSlot::Set& to) {
  for (std::size_t word = 0; word < to.size(); ++word) {
    std::uint64_t bits = 0;
    for (std::size_t bit = 0; bit < 64 && word * 64 + bit < from.size(); ++bit) {
      if (from[word * 64 + bit]) bits |= std::uint64_t{1} << bit;
    }
    to[word].store(bits, std::memory_order_relaxed);
  }
}

void read_set(const BallotSlot::Set& from, std::vector<bool>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = ((from[i / 64].load(std::memory_order_relaxed) >> (i % 64)) & 1) != 0;
  }
}

std::uint64_t about(const Seat& seat) {
  return std::uint64_t{seat.generation} + 1;
}

}  // namespace

void HostWitnesses::keep(comm::Neighbours& neighbours, const std::vector<std::uint64_t>& ids) {
  for (int rank = 0; rank < neighbours.size(); ++rank) {
    const std::uint64_t id = ids[static_cast<std::size_t>(rank)];
    if (rank != neighbours.rank() && !witnesses_.contains(id)) {
      witnesses_.emplace(id, neighbours.take_witness(rank));
    }
  }
}

void HostWitnesses::look(const Seat& seat, std::vector<comm::Loss>& losses) const {
  for (int rank = 0; rank < seat.size(); ++rank) {
    const auto found = witnesses_.find(seat.members[static_cast<std::size_t>(rank)].id);
    if (found == witnesses_.end()) continue;
    if (found->second.has_ended()) {
      losses.push_back({rank, comm::Loss::Kind::kGone});
    } else if (found->second.header().has_left.load(std::memory_order_acquire) != 0) {
      losses.push_back({rank, comm::Loss::Kind::kLeft});
    }
  }
}

std::optional<Error> HostWitnesses::missing(const Seat& seat) const {
  std::vector<comm::Loss> losses;
  look(seat, losses);
  if (losses.empty()) return std::nullopt;
  const comm::Loss& loss = losses.front();
  const std::uint64_t id = seat.members[static_cast<std::size_t>(loss.member)].id;
  const char* what = loss.kind == comm::Loss::Kind::kGone ? "ended" : "left the job";
  return Error(ErrorCode::kPeerLost,
               fmt::format("rank {} (process {}) {} before generation {} was formed", loss.member,
                           witnesses_.at(id).process(), what, seat.generation))
      .with_rank(loss.member)
      .with_remedy("Call survivors() and form() again.");
}

// The slot of an earlier generation is free: a member is at most one generation ahead of another one that
// still looks for survivors.
void HostWitnesses::write(const Seat& seat, const Ballot& mine) {
  BallotSlot& slot = arena_.header().ballots[seat.generation % 2];
  if (slot.about.load(std::memory_order_relaxed) != about(seat)) {
    slot.about.store(0, std::memory_order_release);
    slot.is_final.store(0, std::memory_order_relaxed);
  }
  write_set(mine.gone, slot.gone);
  write_set(mine.silent, slot.silent);
  slot.about.store(about(seat), std::memory_order_release);
  slot.is_final.store(mine.is_final ? 1 : 0, std::memory_order_release);
}

std::optional<Ballot> HostWitnesses::read(const Seat& seat, int rank) const {
  const auto found = witnesses_.find(seat.members[static_cast<std::size_t>(rank)].id);
  const comm::ArenaHeader& header = rank == seat.rank ? arena_.header() : found->second.header();
  const BallotSlot& slot = header.ballots[seat.generation % 2];
  if (slot.about.load(std::memory_order_acquire) != about(seat)) return std::nullopt;
  Ballot ballot(seat.size());
  ballot.is_final = slot.is_final.load(std::memory_order_acquire) != 0;
  read_set(slot.gone, ballot.gone);
  read_set(slot.silent, ballot.silent);
  return ballot;
}

}  // namespace cohort::world
