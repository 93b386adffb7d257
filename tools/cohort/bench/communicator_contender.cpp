#include "bench/communicator_contender.h"

namespace cohort::tool {

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
  const int other = measure::partner_of(group.rank(), group.world());
  if (other == group.rank()) return {};
  const Call sending = send(std::span<const float>(turn.input), other);
  const Call receiving = receive(turn.output, other);
  const bool sends_first = group.rank() % 2 == 0;
  COHORT_RETURN_IF_ERROR(group.run(sends_first ? sending : receiving));
  return group.run(sends_first ? receiving : sending);
}

}  // namespace cohort::tool
