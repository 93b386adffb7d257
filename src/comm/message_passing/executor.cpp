#include "comm/message_passing/executor.h"

#include "base/check.h"
#include "comm/numbers/combine.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace cohort::comm {
namespace {

bool is_message(const Step& step) {
  return step.kind == StepKind::kSend || step.kind == StepKind::kReceive;
}

// A message without numbers has nothing to round.
bool is_narrow(const Step& step) {
  return step.width == Width::kNarrow && (step.from.count > 0 || step.to.count > 0);
}

std::size_t work_bytes(const Step& step, DType dtype) {
  return std::max<std::size_t>(1, std::max(step.from.count, step.to.count) * size_bytes(dtype));
}

}  // namespace

Executor::Executor(Schedule schedule, const Memories& memories)
    : schedule_(std::move(schedule)),
      memories_(memories),
      states_(schedule_.steps.size()),
      wire_dtype_(travelling_dtype(schedule_.wire, memories.scratch.dtype)),
      num_left_(schedule_.steps.size()) {
  COHORT_CHECK_LE(schedule_.scratch_count, memories_.scratch.count);
  check_regions();
  link();
  number_messages();
}

void Executor::check_regions() const {
  for (const Step& step : schedule_.steps) {
    if (step.kind != StepKind::kReceive && step.kind != StepKind::kRound) (void)readable(step.from);
    if (step.kind != StepKind::kSend) (void)writable(step.to);
  }
}

void Executor::link() {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    for (const int before : schedule_.steps[i].after) {
      COHORT_CHECK(before >= 0 && static_cast<std::size_t>(before) < i, "step {} comes after step {}", i,
                   before);
      states_[static_cast<std::size_t>(before)].followers.push_back(static_cast<int>(i));
      ++states_[i].num_blockers;
    }
    if (states_[i].num_blockers == 0) make_ready(static_cast<int>(i));
  }
}

void Executor::number_messages() {
  std::map<std::pair<StepKind, int>, std::uint64_t> counts;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Step& step = schedule_.steps[i];
    if (is_message(step)) states_[i].index = counts[{step.kind, step.peer}]++;
  }
}

// A narrow send counts as work: its numbers are rounded first.
void Executor::make_ready(int index) {
  const bool is_free =
      is_message(step(index)) && !(step(index).kind == StepKind::kSend && is_narrow(step(index)));
  (is_free ? ready_messages_ : ready_work_).push_back(index);
}

std::vector<Executor::Message> Executor::take_messages() {
  std::vector<Message> messages;
  for (const int index : std::exchange(ready_messages_, {})) messages.push_back(message(index));
  return messages;
}

std::vector<Executor::Message> Executor::next(std::size_t& budget_bytes) {
  std::vector<Message> messages = take_messages();
  while (messages.empty() && budget_bytes > 0 && !ready_work_.empty()) {
    const int index = ready_work_.front();
    ready_work_.pop_front();
    budget_bytes -= std::min(budget_bytes, work_bytes(step(index), memories_.scratch.dtype));
    if (is_message(step(index))) {
      messages.push_back(message(index));
    } else {
      states_[static_cast<std::size_t>(index)].stage = Stage::kBegun;
      run_locally(step(index));
      finished(index);
      messages = take_messages();
    }
  }
  return messages;
}

void Executor::finished(int index) {
  StepState& state = states_[static_cast<std::size_t>(index)];
  COHORT_CHECK(state.stage == Stage::kBegun, "step {} is done without having begun", index);
  state.stage = Stage::kDone;
  --num_left_;
  const Step& step = this->step(index);
  if (is_narrow(step) && step.kind == StepKind::kReceive) convert(narrow_end(step.to), writable(step.to));
  narrowed_.erase(index);
  for (const int follower : state.followers) {
    if (--states_[static_cast<std::size_t>(follower)].num_blockers == 0) make_ready(follower);
  }
}

void Executor::run_locally(const Step& step) {
  const Numbers to = writable(step.to);
  if (to.count == 0) return;
  if (step.kind == StepKind::kRound) return round_to(wire_dtype_, to);
  const ConstNumbers from = readable(step.from);
  COHORT_CHECK_EQ(from.count, to.count);
  if (step.kind == StepKind::kCopy) {
    if (from.data != to.data) std::memmove(to.data, from.data, from.size_bytes());
    return;
  }
  std::array<const std::byte*, 2> inputs = {to.data, from.data};
  if (step.order == Order::kFromFirst) std::swap(inputs[0], inputs[1]);
  const std::array<std::byte*, 1> targets = {to.data};
  combine(partial_op(memories_.reduce_op), to.dtype, inputs, targets, to.count);
}

Executor::Message Executor::message(int index) {
  const Step& step = this->step(index);
  StepState& state = states_[static_cast<std::size_t>(index)];
  state.stage = Stage::kBegun;
  Message message{.step = index, .kind = step.kind, .peer = step.peer, .index = state.index};
  if (step.kind == StepKind::kSend) {
    message.from = is_narrow(step) ? narrowed(index) : readable(step.from);
  } else {
    message.to = is_narrow(step) ? narrow_end(step.to) : writable(step.to);
  }
  return message;
}

ConstNumbers Executor::narrowed(int index) {
  const ConstNumbers from = readable(step(index).from);
  std::unique_ptr<std::byte[]>& room = narrowed_[index];
  room = std::make_unique_for_overwrite<std::byte[]>(from.count * size_bytes(wire_dtype_));
  const Numbers to(room.get(), from.count, wire_dtype_);
  convert(from, to);
  return to;
}

Numbers Executor::narrow_end(const Region& region) const {
  const Numbers whole = writable(region);
  const std::size_t narrow_bytes = whole.count * size_bytes(wire_dtype_);
  return {whole.data + (whole.size_bytes() - narrow_bytes), whole.count, wire_dtype_};
}

ConstNumbers Executor::readable(const Region& region) const {
  const ConstNumbers whole = region.memory == Memory::kInput    ? memories_.input
                             : region.memory == Memory::kOutput ? ConstNumbers(memories_.output)
                                                                : ConstNumbers(memories_.scratch);
  COHORT_CHECK_LE(region.first + region.count, whole.count);
  return region.count == 0 ? ConstNumbers(nullptr, 0, whole.dtype) : whole.slice(region.first, region.count);
}

Numbers Executor::writable(const Region& region) const {
  COHORT_CHECK(region.memory != Memory::kInput, "a step writes to the input");
  const Numbers whole = region.memory == Memory::kOutput ? memories_.output : memories_.scratch;
  COHORT_CHECK_LE(region.first + region.count, whole.count);
  return region.count == 0 ? Numbers(nullptr, 0, whole.dtype) : whole.slice(region.first, region.count);
}

bool Executor::waits_for(int peer) const {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Step& step = schedule_.steps[i];
    if (is_message(step) && step.peer == peer && states_[i].stage != Stage::kDone) return true;
  }
  return false;
}

std::vector<int> Executor::pending_peers() const {
  std::vector<int> peers;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Step& step = schedule_.steps[i];
    if (is_message(step) && states_[i].stage == Stage::kBegun) peers.push_back(step.peer);
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

}  // namespace cohort::comm
