#include "measure/rank_layout.h"

#include <numeric>

namespace cohort::measure {
namespace {

std::vector<int> everybody(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// One part from every rank; each part begins at `first_index` of its rank's values.
std::vector<Piece> part_of_each(std::size_t part, std::size_t first_index, int ranks) {
  std::vector<Piece> pieces;
  for (int r = 0; r < ranks; ++r) {
    pieces.push_back({.offset = static_cast<std::size_t>(r) * part,
                      .count = part,
                      .first_index = first_index,
                      .ranks = {r}});
  }
  return pieces;
}

}  // namespace

BufferSizes buffer_sizes(BenchOperation operation, std::size_t elements, int ranks) {
  const std::size_t part = elements / static_cast<std::size_t>(ranks);
  switch (operation) {
    case BenchOperation::kAllReduce:
    case BenchOperation::kBroadcast:
      return {.input = 0, .output = elements};
    case BenchOperation::kReduceScatter:
    case BenchOperation::kScatter:
      return {.input = elements, .output = part};
    case BenchOperation::kAllGather:
    case BenchOperation::kGather:
      return {.input = part, .output = elements};
    case BenchOperation::kAllToAll:
    case BenchOperation::kReduce:
    case BenchOperation::kSendReceive:
      return {.input = elements, .output = elements};
    case BenchOperation::kBarrier:
      return {};
  }
  return {};
}

Before output_before(BenchOperation operation) {
  const bool in_place = operation == BenchOperation::kAllReduce || operation == BenchOperation::kBroadcast;
  return in_place ? Before::kOwnValues : Before::kPoison;
}

int partner_of(int rank, int ranks) {
  const int other = rank % 2 == 0 ? rank + 1 : rank - 1;
  return other < ranks ? other : rank;
}

std::vector<Piece> expected_pieces(BenchOperation operation, std::size_t elements, const Seat& seat) {
  const std::size_t part = elements / static_cast<std::size_t>(seat.ranks);
  const std::size_t mine = static_cast<std::size_t>(seat.rank) * part;
  const bool is_root = seat.rank == seat.root;
  switch (operation) {
    case BenchOperation::kAllReduce:
      return {{.count = elements, .ranks = everybody(seat.ranks)}};
    case BenchOperation::kReduceScatter:
      return {{.count = part, .first_index = mine, .ranks = everybody(seat.ranks)}};
    case BenchOperation::kAllGather:
      return part_of_each(part, 0, seat.ranks);
    case BenchOperation::kBroadcast:
      return {{.count = elements, .ranks = {seat.root}}};
    case BenchOperation::kAllToAll:
      return part_of_each(part, mine, seat.ranks);
    case BenchOperation::kReduce:
      if (!is_root) return {};
      return {{.count = elements, .ranks = everybody(seat.ranks)}};
    case BenchOperation::kGather:
      if (!is_root) return {};
      return part_of_each(part, 0, seat.ranks);
    case BenchOperation::kScatter:
      return {{.count = part, .first_index = mine, .ranks = {seat.root}}};
    case BenchOperation::kSendReceive:
      if (partner_of(seat.rank, seat.ranks) == seat.rank) return {};
      return {{.count = elements, .ranks = {partner_of(seat.rank, seat.ranks)}}};
    case BenchOperation::kBarrier:
      return {};
  }
  return {};
}

CallShape call_shape(BenchOperation operation, std::size_t elements, const Seat& seat) {
  return {.sizes = buffer_sizes(operation, elements, seat.ranks),
          .before = output_before(operation),
          .expected = expected_pieces(operation, elements, seat)};
}

}  // namespace cohort::measure
