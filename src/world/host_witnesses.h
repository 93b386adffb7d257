#pragma once

#include "comm/shared_memory/arena.h"
#include "comm/shared_memory/neighbours.h"
#include "comm/shared_memory/witness.h"
#include "world/site.h"

#include <map>
#include <optional>

namespace cohort::world {

/// The other members of this host, as the kernel and the first pages of their arenas show them, in all
/// generations.
///
/// Threads: one at a time.
/// Lifetime: the arena must outlive it.
class HostWitnesses {
 public:
  explicit HostWitnesses(Arena& arena) : arena_(arena) {}

  /// Keeps the ranks that have met, the first time they meet. `ids`: of the ranks of `neighbours`.
  void keep(comm::Neighbours& neighbours, const std::vector<std::uint64_t>& ids);
  /// Adds members of the seat whose processes have ended or have left.
  void look(const Seat& seat, std::vector<comm::Loss>& losses) const;
  /// kPeerLost for a member of the seat that has ended or left.
  std::optional<Error> missing(const Seat& seat) const;

  /// Writes the own ballot about the seat's generation to the own arena.
  void write(const Seat& seat, const Ballot& mine);
  /// The ballot of a member of this host; nothing if it has laid down none about this generation.
  std::optional<Ballot> read(const Seat& seat, int rank) const;
  /// Says that this process takes part in no later generation.
  void leave() { arena_.header().has_left.store(1, std::memory_order_release); }

 private:
  Arena& arena_;
  std::map<std::uint64_t, comm::Witness> witnesses_;  // by id
};

}  // namespace cohort::world
