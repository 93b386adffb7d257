#include "state/peer_source.h"

#include "comm/conformance/message_passing_kind.h"
#include "comm/conformance/shared_memory_kind.h"
#include "layout/random_slices.h"
#include "state/memory_source.h"
#include "state/move.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using state::PeerSource;

class Peers : public Conformance {};

std::vector<Kind> some_kinds() {
  std::vector<Kind> kinds = {shared_memory_kind("shared_memory", InArena::kNobodys)};
  for (const NetworkKind& network : network_kinds()) {
    if (network.name == "loopback" || network.name == "hosts_of_two")
      kinds.push_back(message_passing_kind(network));
  }
  return kinds;
}
INSTANTIATE_TEST_SUITE_P(Kinds, Peers, ::testing::ValuesIn(some_kinds()),
                         [](const ::testing::TestParamInfo<Kind>& kind) { return kind.param.name; });

const Shape kShape = {7, 9};

// The pieces that rank `rank` of the group holds in the layout `seed`; all ranks throw the same dice.
Elements layout_of(const Communicator& group, std::uint64_t seed) {
  Dice dice(seed);
  const auto slices = dice.shared_by(static_cast<std::size_t>(group.size()), kShape);
  return {"weight", kShape, slices[static_cast<std::size_t>(group.rank())]};
}

std::vector<std::int32_t> numbers_of(const Slice& mine) {
  const auto indices = elements_of(kShape, mine);
  return {indices.begin(), indices.end()};
}

// Buffers of 16 bytes, so that there are many rounds, and of 4 MiB.
TEST_P(Peers, MoveBetweenAnyTwoLayouts) {
  for (const int world : {1, 2, 3, 5, 8}) {
    run(world, [](Seat& seat) -> Status {
      for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Elements have = layout_of(*seat, seed), want = layout_of(*seat, seed + 100);
        have.numbers = numbers_of(have.piece.mine);
        const std::size_t buffer = seed % 2 == 0 ? 16 : PeerSource::kBufferBytes;
        COHORT_ASSIGN_OR_RETURN(const auto source, PeerSource::open(*seat, std::vector{have.view()}, buffer));
        COHORT_RETURN_IF_ERROR(state::move(std::vector{want.view()}, *source));
        if (want.numbers != numbers_of(want.piece.mine)) {
          return unexpected(seat, "wrong numbers with seed {}: {}", seed, text_of(want.piece.mine));
        }
      }
      return {};
    });
  }
}

TEST_P(Peers, MergeTheCopiesOfAllRanks) {
  run(3, [](Seat& seat) -> Status {
    std::vector<float> mine = {1, static_cast<float>(seat.index())}, result(2);
    Piece piece{.name = "mean", .shape = {2}, .mine = whole({2}), .merge = Merge::kMean};
    piece.bytes = std::as_writable_bytes(std::span(mine));
    COHORT_ASSIGN_OR_RETURN(const auto source, PeerSource::open(*seat, std::vector{piece}));
    piece.bytes = std::as_writable_bytes(std::span(result));
    COHORT_RETURN_IF_ERROR(state::move(std::vector{piece}, *source));
    return result == std::vector<float>{1, 1} ? Status() : unexpected(seat, "got {}", result[1]);
  });
}

// In any other order than that of the ranks these numbers have another sum.
TEST_P(Peers, AddCopiesInTheOrderOfRanks) {
  run(4, [](Seat& seat) -> Status {
    const double numbers[] = {1.0, 1e16, -1e16, 3.0};
    double mine = numbers[seat.index()];
    for (const Merge merge : {Merge::kSum, Merge::kMean}) {
      double expected = 0, result = 0;
      for (const double number : numbers) expected += number;
      if (merge == Merge::kMean) expected /= 4;
      Piece piece{.name = "n", .dtype = DType::kF64, .shape = {1}, .mine = whole({1}), .merge = merge};
      piece.bytes = std::as_writable_bytes(std::span(&mine, 1));
      COHORT_ASSIGN_OR_RETURN(const auto source, PeerSource::open(*seat, std::vector{piece}));
      piece.bytes = std::as_writable_bytes(std::span(&result, 1));
      COHORT_RETURN_IF_ERROR(state::move(std::vector{piece}, *source));
      if (result != expected) return unexpected(seat, "got {}, expected {}", result, expected);
    }
    return {};
  });
}

// A rank that has everything reads nothing from the others; no rank reads a copy from rank 0 if the next has
// one.
TEST_P(Peers, ReadsFromTheNearest) {
  run(4, [](Seat& seat) -> Status {
    const bool has_it = seat.index() != 1;
    Elements copy("weight", {2}, whole({2})), nothing("other", {2}, flat_range({2}, 0, 0)), want = copy;
    COHORT_ASSIGN_OR_RETURN(const auto source,
                            PeerSource::open(*seat, std::vector{has_it ? copy.view() : nothing.view()}));
    COHORT_ASSIGN_OR_RETURN(const auto planned, state::plan_move(std::vector{want.view()}, source->held()));
    const int holder = source->held()[planned.at(0).read.held].holder;
    if (holder != (has_it ? seat.index() : 2)) return unexpected(seat, "reads from {}", holder);
    return state::move(std::vector{want.view()}, *source);
  });
}

// All ranks want everything of rank 0 at once.
TEST_P(Peers, SendNoMoreAtATimeThanTheBufferHolds) {
  constexpr std::size_t kBuffer = 256;
  run(3, [](Seat& seat) -> Status {
    Elements have("weight", {1000}, flat_range({1000}, 0, seat.index() == 0 ? 1000 : 0)),
        want("weight", {1000}, whole({1000}));
    COHORT_ASSIGN_OR_RETURN(const auto source, PeerSource::open(*seat, std::vector{have.view()}, kBuffer));
    const auto trace = std::make_shared<comm::CallTrace>(4096);
    seat->set_trace(trace);
    COHORT_RETURN_IF_ERROR(state::move(std::vector{want.view()}, *source));
    seat->set_trace(nullptr);
    std::vector<std::size_t> sizes;
    for (const comm::TracedCall& call : trace->calls()) {
      if (call.operation == Operation::kAllToAll) sizes.push_back(call.bytes);
    }
    sizes.erase(sizes.begin(), sizes.begin() + 2);  // requests
    const std::size_t num_rounds = (4000 + kBuffer / 3 / 4 * 4 - 1) / (kBuffer / 3 / 4 * 4);
    if (sizes.size() != num_rounds) return unexpected(seat, "{} rounds", sizes.size());
    const std::size_t most = *std::max_element(sizes.begin(), sizes.end());
    return most <= kBuffer ? Status() : unexpected(seat, "{} bytes at once", most);
  });
}

TEST_P(Peers, NoticeCopiesThatDiffer) {
  run(3, [](Seat& seat) -> Status {
    Elements copy("weight", {2}, whole({2})), want = copy;
    if (seat.index() == 1) copy.numbers[1] = 5;
    COHORT_ASSIGN_OR_RETURN(const auto source, PeerSource::open(*seat, std::vector{copy.view()}));
    const Status moved = state::move(std::vector{want.view()}, *source);
    if (moved) return unexpected(seat, "no error");
    return moved.error().code() == ErrorCode::kCorrupt ? Status() : moved;
  });
}

// Rank 2 alone wants what nobody has: all ranks return, and the others name it.
TEST_P(Peers, AgreeOnTheFailureOfOne) {
  run(3, [](Seat& seat) -> Status {
    Elements have("weight", {2}, flat_range({2}, 0, 1)), want = have;
    if (seat.index() == 2) want.piece.mine = whole({2}), want.numbers.resize(2);
    COHORT_ASSIGN_OR_RETURN(const auto source, PeerSource::open(*seat, std::vector{have.view()}));
    const Status moved = state::move(std::vector{want.view()}, *source);
    if (moved) return unexpected(seat, "no error");
    if (moved.error().text().find("nobody has 1 of the 2 elements of 'weight'") == std::string::npos)
      return moved;
    if (seat.index() == 2) return {};
    return moved.error().rank() == 2 && moved.error().code() == ErrorCode::kAborted ? Status() : moved;
  });
}

}  // namespace
}  // namespace cohort::test
