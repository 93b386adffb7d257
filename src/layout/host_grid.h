#pragma once

#include <optional>
#include <span>

namespace cohort {

/// The place of a rank in a group whose hosts all have equally many ranks: a grid of hosts by places.
///
///     host 0: ranks 0 1    rank 2 has host 1, place 0 and is in a column with rank 0
///     host 1: ranks 2 3
struct HostGrid {
  int num_hosts = 1;
  int per_host = 1;  ///< ranks of each host
  int host = 0;      ///< of this rank; hosts are ordered by their first ranks
  int place = 0;     ///< of this rank, among the ranks of its host
  /// The ranks of each host follow each other: a tree over all ranks is a tree over hosts of trees inside them.
  bool is_in_order = true;

  int num_shards() const { return num_hosts * per_host; }
  /// The slice of a bucket that is left to this rank after a reduce-scatter inside its host, and one across
  /// hosts of what that gave it.
  int shard() const { return place * num_hosts + host; }

  bool operator==(const HostGrid&) const = default;
};

/// `hosts`: the host of each rank, as any number. Nothing if hosts have different numbers of ranks.
std::optional<HostGrid> host_grid(std::span<const int> hosts, int rank);

}  // namespace cohort
