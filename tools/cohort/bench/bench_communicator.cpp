#include "bench/bench_communicator.h"

#include "comm/shared_memory/communicator.h"

#include <fmt/format.h>

namespace cohort::tool {
namespace {

constexpr const char* kArena = "arena";
constexpr const char* kOrdinary = "ordinary";

}  // namespace

std::vector<std::string> bench_kinds() {
  return {kArena, kOrdinary};
}

Result<BenchMemory::Buffer> BenchMemory::make(const std::string& kind, std::size_t elements) {
  Buffer buffer;
  if (elements == 0) return buffer;
  if (kind == kArena) {
    COHORT_ASSIGN_OR_RETURN(buffer.block, arena_.allocate(elements * sizeof(float)));
    buffer.numbers = buffer.block.as<float>().first(elements);
    return buffer;
  }
  if (kind != kOrdinary && kind != "tcp" && kind != "tls") {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("'{}' is not a kind of memory: expected arena, ordinary, tcp or tls", kind));
  }
  buffer.ordinary.resize(elements);
  buffer.numbers = buffer.ordinary;
  return buffer;
}

Result<std::span<float>> BenchMemory::get(const std::string& kind, const std::string& name,
                                          std::size_t elements) {
  Buffer& buffer = buffers_[{kind, name}];
  if (buffer.numbers.size() != elements) {
    buffer = {};  // freed first, because both may not fit
    COHORT_ASSIGN_OR_RETURN(buffer, make(kind, elements));
  }
  return buffer.numbers;
}

Result<BenchCommunicator> make_bench_communicator(const BenchSeat& seat) {
  BenchCommunicator bench;
  COHORT_ASSIGN_OR_RETURN(bench.arena, Arena::create());
  bench.memory = std::make_unique<BenchMemory>(*bench.arena);
  const SharedMemoryOptions options{.rendezvous = seat.rendezvous,
                                    .facts = {.name = "bench", .rank = seat.rank, .world = seat.ranks}};
  COHORT_ASSIGN_OR_RETURN(bench.group, SharedMemoryCommunicator::meet(*bench.arena, options));
  return bench;
}

using measure::BenchOperation;

Result<measure::Memory> CommunicatorContender::allocate(const std::string& kind,
                                                        const measure::BufferSizes& elements) {
  measure::Memory memory;
  COHORT_ASSIGN_OR_RETURN(memory.input, bench_.memory->get(kind, "input", elements.input));
  COHORT_ASSIGN_OR_RETURN(memory.output, bench_.memory->get(kind, "output", elements.output));
  return memory;
}

Status CommunicatorContender::align() {
  return bench_.group->run(barrier());
}

Status CommunicatorContender::perform(const measure::Turn& turn) {
  Communicator& group = *bench_.group;
  const ConstNumbers in = std::span<const float>(turn.input);
  const Numbers out = turn.output;
  switch (turn.operation) {
    case BenchOperation::kAllReduce:
      return group.run(all_reduce(out));
    case BenchOperation::kReduceScatter:
      return group.run(reduce_scatter(in, out));
    case BenchOperation::kAllGather:
      return group.run(all_gather(in, out));
    case BenchOperation::kBroadcast:
      return group.run(broadcast(out, turn.root));
    case BenchOperation::kAllToAll:
      return group.run(all_to_all(in, out));
    case BenchOperation::kReduce:
      return group.run(reduce(in, out, turn.root));
    case BenchOperation::kGather:
      return group.run(gather(in, out, turn.root));
    case BenchOperation::kScatter:
      return group.run(scatter(in, out, turn.root));
    case BenchOperation::kBarrier:
      return group.run(barrier());
    case BenchOperation::kSendReceive:
      return ping_pong(turn);
  }
  return {};
}

Status CommunicatorContender::ping_pong(const measure::Turn& turn) {
  Communicator& group = *bench_.group;
  const int other = measure::partner_of(group.rank(), group.size());
  if (other == group.rank()) return {};
  const Call sending = send(std::span<const float>(turn.input), other);
  const Call receiving = recv(turn.output, other);
  const bool sends_first = group.rank() % 2 == 0;
  COHORT_RETURN_IF_ERROR(group.run(sends_first ? sending : receiving));
  return group.run(sends_first ? receiving : sending);
}

}  // namespace cohort::tool
