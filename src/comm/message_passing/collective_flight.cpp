#include "comm/message_passing/collective_flight.h"

#include "comm/message_passing/plan.h"
#include "comm/numbers/combine.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::comm {
namespace {

// Bytes that a flight works on before messages are handled again.
constexpr std::size_t kShareBytes = std::size_t{512} << 10;

Numbers room_for(std::size_t count, DType dtype, ScratchPool& pool, ScratchPool::Scratch& room) {
  room = pool.take(count * size_bytes(dtype));
  return {room.data(), count, dtype};
}

}  // namespace

CollectiveFlight::CollectiveFlight(Facts facts, const Schedule& schedule, int rank, int world,
                                   ScratchPool& pool)
    : Flight(std::move(facts)),
      mine_(announcement_of(call(), world, schedule.wire)),
      signature_(mine_.signature()),
      to_next_(encode(mine_)),
      world_(world),
      has_output_(call().operation != Operation::kReduce || call().peer == rank),
      work_dtype_(comm::work_dtype(call())),
      executor_(schedule, memories(schedule.scratch_count, pool)) {}

Executor::Memories CollectiveFlight::memories(std::size_t scratch_count, ScratchPool& pool) {
  const Numbers scratch = room_for(scratch_count, work_dtype_, pool, scratch_);
  if (!is_reducing(call().operation) || work_dtype_ == call().input.dtype) {
    return {call().input, call().output, scratch, call().reduce_op};
  }
  const Numbers input = room_for(call().input.count, work_dtype_, pool, wide_input_);
  const Numbers output = room_for(has_output_ ? call().output.count : 0, work_dtype_, pool, wide_output_);
  return {input, output, scratch, call().reduce_op};
}

void CollectiveFlight::begin(Line& line) {
  next_ = (line.rank() + 1) % line.size();
  previous_ = (line.rank() + line.size() - 1) % line.size();
  announce(line);
  if (!wide_input_.empty()) {
    convert(call().input, Numbers(wide_input_.data(), call().input.count, work_dtype_));
  }
  go_on(line);
}

void CollectiveFlight::announce(Line& line) {
  if (line.size() == 1) {
    told_ = heard_ = true;
    return;
  }
  const MessageName name{.channel = Channel::kAnnounce, .number = facts().number};
  line.recv(previous_, name, from_previous_, {facts().id, kHeard});
  line.send(next_, name, to_next_, {facts().id, kTold});
}

void CollectiveFlight::go_on(Line& line) {
  std::size_t budget_bytes = kShareBytes;
  do {
    for (const Executor::Message& message : executor_.next(budget_bytes)) hand_over(line, message);
  } while (budget_bytes > 0 && executor_.can_go_on());
  if (executor_.can_go_on() && !std::exchange(waits_for_turn_, true)) {
    line.take_turns({facts().id, kTurn});
  }
  if (is_done()) finish();
}

void CollectiveFlight::hand_over(Line& line, const Executor::Message& message) {
  const MessageName name{.channel = Channel::kCollective,
                         .number = facts().number,
                         .tag = message.index,
                         .signature = signature_};
  const Ticket ticket{facts().id, message.step};
  if (message.kind == StepKind::kSend) {
    line.send(message.peer, name, {message.from.data, message.from.size_bytes()}, ticket);
  } else {
    line.recv(message.peer, name, {message.to.data, message.to.size_bytes()}, ticket);
  }
}

Status CollectiveFlight::landed(Line& line, int ticket) {
  if (ticket == kTold) {
    told_ = true;
  } else if (ticket == kHeard) {
    COHORT_RETURN_IF_ERROR(compare(line));
    heard_ = true;
  } else if (ticket == kTurn) {
    waits_for_turn_ = false;
  } else {
    executor_.finished(ticket);
  }
  go_on(line);
  return {};
}

Status CollectiveFlight::compare(const Line& line) const {
  COHORT_ASSIGN_OR_RETURN(Announcement theirs, decode_announcement(from_previous_));
  if (mine_.agrees_with(theirs)) return {};
  const bool only_counts = mine_.text() == theirs.text();
  const bool has_peer = theirs.root < static_cast<std::uint32_t>(line.size());
  if (has_peer) theirs.root = static_cast<std::uint32_t>(line.member(static_cast<int>(theirs.root)));
  return Error(ErrorCode::kUsage, fmt::format("rank {} made another call: {}{}", line.member(previous_),
                                              theirs.text(), only_counts ? ", with other counts" : ""))
      .with_remedy("Make the same calls in the same order, with the same counts and types, on every rank.");
}

void CollectiveFlight::finish() {
  if (finished_) return;
  finished_ = true;
  if (!has_output_ || !is_reducing(call().operation)) return;
  const bool is_wide = work_dtype_ != call().output.dtype;
  const Numbers result =
      is_wide ? Numbers(wide_output_.data(), call().output.count, work_dtype_) : call().output;
  if (call().reduce_op == ReduceOp::kMean) divide(result, static_cast<std::size_t>(world_));
  if (is_wide) convert(result, call().output);
}

bool CollectiveFlight::is_done() const {
  return told_ && heard_ && executor_.is_done();
}

bool CollectiveFlight::waits_for(int rank) const {
  if (rank == previous_ && !heard_) return true;
  if (rank == next_ && !told_) return true;
  return executor_.waits_for(rank);
}

bool CollectiveFlight::is_send(int ticket) const {
  if (ticket == kTold || ticket == kHeard) return ticket == kTold;
  return executor_.step(ticket).kind == StepKind::kSend;
}

int CollectiveFlight::peer_of(int ticket) const {
  if (ticket == kTold) return next_;
  if (ticket == kHeard) return previous_;
  return executor_.step(ticket).peer;
}

std::vector<int> CollectiveFlight::pending_peers() const {
  std::vector<int> peers = executor_.pending_peers();
  if (!heard_ && std::find(peers.begin(), peers.end(), previous_) == peers.end()) peers.push_back(previous_);
  return peers;
}

}  // namespace cohort::comm
