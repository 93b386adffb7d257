#pragma once

#include "comm/group/communicator.h"
#include "state/piece_source.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::state {

/// One read of all ranks of a group together: each rank says which elements of the others' pieces it wants,
/// then gets them in rounds. In each round a rank receives the next bytes of its reads, in their order, up to
/// the length of a window; the holders know from its requests which elements belong to which round.
///
/// Threads: one at a time, as the group.
/// Lifetime: group and pieces must outlive it.
/// Failure: as the group; kCorrupt for a request that does not fit the piece.
/// Cost: a request of 32 bytes for each run and window, two small all-to-alls and an all-reduce, then an
/// all-to-all in each round.
class PeerExchange {
 public:
  /// Elements of a piece of another rank, or of this one.
  struct Wanted {
    int holder = 0;
    std::size_t piece = 0;  ///< index among the pieces of the holder
    std::size_t from = 0;   ///< in elements
    std::size_t count = 0;
    std::size_t element_bytes = 0;
  };

  PeerExchange(Communicator& group, std::span<const Piece> mine, std::size_t buffer_bytes);

  Status run(std::span<const Wanted> wanted, const Taker& take);

 private:
  struct Request {
    std::size_t round = 0;
    std::size_t piece = 0;
    std::size_t from = 0;
    std::size_t count = 0;
  };
  struct Portion {  // the part of a read that one round carries
    std::size_t read = 0;
    std::size_t first = 0;  // in the read, in elements
    int holder = 0;
    std::size_t size_bytes = 0;
    Request request{};
  };

  void cut(std::span<const Wanted> wanted);
  Status send_requests();
  Status check(const Request& request, int from) const;
  Status run_round(std::size_t round, const Taker& take);
  void pack(std::size_t round, std::vector<std::size_t>& counts);
  void deliver(std::size_t last, const std::vector<std::size_t>& counts, const Taker& take);
  std::span<const std::byte> bytes_of(const Request& request) const;

  Communicator& group_;
  const std::span<const Piece> mine_;
  const std::size_t window_bytes_;
  std::vector<Portion> portions_;  // of this rank, in the order of its reads
  std::size_t next_portion_ = 0;
  std::vector<std::vector<Request>> requests_;  // per rank: what it wants from this one
  std::vector<std::size_t> next_request_;       // per rank
  std::int64_t num_rounds_ = 0;
  std::vector<std::byte> sent_;
  std::vector<std::byte> received_;
};

}  // namespace cohort::state
