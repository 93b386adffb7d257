#include "schedule_check.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <random>

namespace cohort::comm {
namespace {

using Term = Terms::Term;
using Span = std::pair<std::ptrdiff_t, std::ptrdiff_t>;

// The positions of one rank's buffers in one array of cells.
struct Layout {
  explicit Layout(const RankMemory& memory, std::size_t scratch_count) {
    const auto in = static_cast<std::ptrdiff_t>(memory.input_count);
    const auto out = static_cast<std::ptrdiff_t>(memory.output_count);
    const std::ptrdiff_t shift = memory.output_in_input.value_or(in);
    input = std::max<std::ptrdiff_t>(0, -shift);
    output = input + shift;
    scratch = std::max(input + in, output + out);
    end = scratch + static_cast<std::ptrdiff_t>(scratch_count);
  }
  Span span(Region region) const {
    const std::ptrdiff_t base = region.memory == Memory::kInput    ? input
                                : region.memory == Memory::kOutput ? output
                                                                   : scratch;
    const auto first = base + static_cast<std::ptrdiff_t>(region.first);
    return {first, first + static_cast<std::ptrdiff_t>(region.count)};
  }
  std::ptrdiff_t input = 0, output = 0, scratch = 0, end = 0;
};

struct Message {
  int rank = 0;
  int step = 0;
  std::vector<Term> payload{};
  std::uint64_t heard_of = 0;
};

class Run {
 public:
  Run(Terms& terms, const std::vector<Schedule>& schedules, const std::vector<RankMemory>& memories,
      RunOptions options)
      : terms_(terms), schedules_(schedules), memories_(memories), options_(options), random_(options.seed) {
    outcome_.counted.resize(schedules.size());
    outcome_.heard_of.resize(schedules.size());
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) prepare(static_cast<int>(rank));
  }

  RunOutcome run() {
    while (!ready_.empty() && !outcome_.fault) {
      const std::size_t pick = random_() % ready_.size();
      std::swap(ready_[pick], ready_.back());
      const auto [rank, step] = ready_.back();
      ready_.pop_back();
      begin(rank, step);
    }
    for (std::size_t rank = 0; rank < schedules_.size() && !outcome_.fault; ++rank)
      look_at_end(static_cast<int>(rank));
    return std::move(outcome_);
  }

 private:
  struct Rank {
    Layout layout;
    std::vector<Term> cells{};
    std::vector<std::size_t> missing{};         // per step: unfinished steps it waits for
    std::vector<std::vector<int>> followers{};  // per step: steps that wait for it
    std::vector<int> number{};                  // per step: index among the messages of its pair
    std::vector<std::uint64_t> heard_of{};
    std::size_t num_done = 0;
  };
  using Meeting = std::tuple<int, int, int>;  // from, to, number

  const Step& step_of(int rank, int step) const { return schedules_[at(rank)].steps[at(step)]; }

  void prepare(int rank) {
    const Schedule& schedule = schedules_[at(rank)];
    const RankMemory& memory = memories_[at(rank)];
    Rank state{.layout = Layout(memory, schedule.scratch_count)};
    state.cells.resize(static_cast<std::size_t>(state.layout.end), Terms::kUndefined);
    for (std::size_t i = 0; i < memory.input_count; ++i) {
      state.cells[static_cast<std::size_t>(state.layout.input) + i] = terms_.leaf(rank, i);
    }
    const std::size_t num_steps = schedule.steps.size();
    state.missing.resize(num_steps);
    state.followers.resize(num_steps);
    state.heard_of.resize(num_steps, std::uint64_t{1} << rank);
    std::map<std::pair<StepKind, int>, int> numbers;
    for (std::size_t step = 0; step < num_steps; ++step) {
      const Step& one = schedule.steps[step];
      state.number.push_back(numbers[{one.kind, one.peer}]++);
      state.missing[step] = one.after.size();
      for (const int before : one.after) state.followers[at(before)].push_back(static_cast<int>(step));
      if (one.after.empty()) ready_.emplace_back(rank, static_cast<int>(step));
    }
    outcome_.heard_of[at(rank)] = std::uint64_t{1} << rank;
    ranks_.push_back(std::move(state));
  }

  std::vector<Term> load(int rank, int step, Region region) {
    const Rank& state = ranks_[at(rank)];
    const auto [first, end] = state.layout.span(region);
    std::vector<Term> terms(state.cells.begin() + first, state.cells.begin() + end);
    if (std::find(terms.begin(), terms.end(), Terms::kUndefined) != terms.end()) {
      fault(rank, step, "reads elements that were never written");
    }
    return terms;
  }

  void store(int rank, Region region, const std::vector<Term>& terms) {
    Rank& state = ranks_[at(rank)];
    std::copy(terms.begin(), terms.end(), state.cells.begin() + state.layout.span(region).first);
  }

  void begin(int rank, int number) {
    const Step& step = step_of(rank, number);
    switch (step.kind) {
      case StepKind::kCopy:
        store(rank, step.to, load(rank, number, step.from));
        return finish(rank, number);
      case StepKind::kCombine:
        combine(rank, number);
        return finish(rank, number);
      case StepKind::kRound:
        store(rank, step.to, rounded(load(rank, number, step.to)));
        return finish(rank, number);
      case StepKind::kSend:
        return begin_send(rank, number);
      case StepKind::kReceive:
        return begin_receive(rank, number);
    }
  }

  std::vector<Term> rounded(std::vector<Term> terms) {
    for (Term& term : terms) term = terms_.rounded(term);
    return terms;
  }

  void combine(int rank, int number) {
    const Step& step = step_of(rank, number);
    const std::vector<Term> from = load(rank, number, step.from);
    std::vector<Term> to = load(rank, number, step.to);
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] =
          step.order == Order::kFromFirst ? terms_.combined(from[i], to[i]) : terms_.combined(to[i], from[i]);
    }
    store(rank, step.to, to);
    outcome_.counted[at(rank)].combined += to.size();
  }

  void begin_send(int rank, int number) {
    const Step& step = step_of(rank, number);
    const Meeting meeting{rank, step.peer, ranks_[at(rank)].number[at(number)]};
    Message message{rank, number, load(rank, number, step.from), ranks_[at(rank)].heard_of[at(number)]};
    if (step.width == Width::kNarrow) message.payload = rounded(std::move(message.payload));
    outcome_.counted[at(rank)].sent += step.from.count;
    if (options_.sending == Sending::kCopied) finish(rank, number);
    const auto waiting = receives_.find(meeting);
    if (waiting == receives_.end()) {
      messages_.emplace(meeting, std::move(message));
      return;
    }
    const auto [receiver, receive] = waiting->second;
    receives_.erase(waiting);
    meet(message, receiver, receive);
  }

  void begin_receive(int rank, int number) {
    const Step& step = step_of(rank, number);
    const Meeting meeting{step.peer, rank, ranks_[at(rank)].number[at(number)]};
    const auto waiting = messages_.find(meeting);
    if (waiting == messages_.end()) {
      receives_.emplace(meeting, std::pair(rank, number));
      return;
    }
    const Message message = std::move(waiting->second);
    messages_.erase(waiting);
    meet(message, rank, number);
  }

  void meet(const Message& message, int receiver, int receive) {
    const Step& step = step_of(receiver, receive);
    if (message.payload.size() != step.to.count) {
      fault(receiver, receive,
            fmt::format("receives {} elements, expected {}", message.payload.size(), step.to.count));
      return;
    }
    if (step.width != step_of(message.rank, message.step).width) {
      fault(receiver, receive, "receives elements of another width");
      return;
    }
    store(receiver, step.to, message.payload);
    outcome_.counted[at(receiver)].received += step.to.count;
    ranks_[at(receiver)].heard_of[at(receive)] |= message.heard_of;
    if (options_.sending == Sending::kMeeting) finish(message.rank, message.step);
    finish(receiver, receive);
  }

  void finish(int rank, int number) {
    Rank& state = ranks_[at(rank)];
    ++state.num_done;
    outcome_.heard_of[at(rank)] |= state.heard_of[at(number)];
    for (const int follower : state.followers[at(number)]) {
      state.heard_of[at(follower)] |= state.heard_of[at(number)];
      if (--state.missing[at(follower)] == 0) ready_.emplace_back(rank, follower);
    }
  }

  void look_at_end(int rank) {
    const Rank& state = ranks_[at(rank)];
    if (state.num_done != schedules_[at(rank)].steps.size()) {
      outcome_.fault = fmt::format("rank {} is deadlocked: {} of {} steps are done", rank, state.num_done,
                                   schedules_[at(rank)].steps.size());
    }
    if (!messages_.empty() && !outcome_.fault) outcome_.fault = "a message was never received";
    const auto first = state.cells.begin() + state.layout.output;
    outcome_.outputs.emplace_back(first,
                                  first + static_cast<std::ptrdiff_t>(memories_[at(rank)].output_count));
  }

  void fault(int rank, int step, const std::string& what) {
    outcome_.fault = fmt::format("step {} of rank {} {}", step, rank, what);
  }

  Terms& terms_;
  const std::vector<Schedule>& schedules_;
  const std::vector<RankMemory>& memories_;
  const RunOptions options_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::vector<std::pair<int, int>> ready_;  // rank, step
  std::map<Meeting, Message> messages_;
  std::map<Meeting, std::pair<int, int>> receives_;
  RunOutcome outcome_;
};

bool reads(const Step& step) {
  return step.kind != StepKind::kReceive;
}
bool writes(const Step& step) {
  return step.kind != StepKind::kSend;
}
bool overlap(Span a, Span b) {
  return a.first < b.second && b.first < a.second;
}

bool in_conflict(const Layout& layout, const Step& a, const Step& b) {
  const auto touches = [&](const Step& writer, const Step& other) {
    if (!writes(writer)) return false;
    const Span written = layout.span(writer.to);
    return (writes(other) && overlap(written, layout.span(other.to))) ||
           (reads(other) && overlap(written, layout.span(other.from)));
  };
  return touches(a, b) || touches(b, a);
}

std::size_t count_of(Memory memory, const Schedule& schedule, const RankMemory& counts) {
  if (memory == Memory::kScratch) return schedule.scratch_count;
  return memory == Memory::kInput ? counts.input_count : counts.output_count;
}

std::optional<std::string> find_bad_step(const Schedule& schedule, const RankMemory& memory) {
  for (std::size_t number = 0; number < schedule.steps.size(); ++number) {
    const Step& step = schedule.steps[number];
    const auto outside = [&](Region region) {
      return region.first + region.count > count_of(region.memory, schedule, memory);
    };
    if (reads(step) && outside(step.from)) return fmt::format("step {} reads outside its memory", number);
    if (!writes(step)) continue;
    if (outside(step.to)) return fmt::format("step {} writes outside its memory", number);
    if (step.to.memory == Memory::kInput) return fmt::format("step {} writes to the input", number);
  }
  return {};
}

}  // namespace

RunOutcome run_schedules(Terms& terms, const std::vector<Schedule>& schedules,
                         const std::vector<RankMemory>& memories, const RunOptions& options) {
  return Run(terms, schedules, memories, options).run();
}

std::optional<std::string> find_fault(const Schedule& schedule, const RankMemory& memory) {
  if (auto bad = find_bad_step(schedule, memory)) return bad;
  const Layout layout(memory, schedule.scratch_count);
  const std::size_t words = schedule.steps.size() / 64 + 1;
  std::vector<std::vector<std::uint64_t>> before(schedule.steps.size(), std::vector<std::uint64_t>(words));
  for (std::size_t number = 0; number < schedule.steps.size(); ++number) {
    for (const int earlier : schedule.steps[number].after) {
      if (earlier < 0 || at(earlier) >= number)
        return fmt::format("step {} is after step {}", number, earlier);
      for (std::size_t word = 0; word < words; ++word) before[number][word] |= before[at(earlier)][word];
      before[number][at(earlier) / 64] |= std::uint64_t{1} << (earlier % 64);
    }
    for (std::size_t other = 0; other < number; ++other) {
      const bool ordered = (before[number][other / 64] >> (other % 64) & 1) != 0;
      if (!ordered && in_conflict(layout, schedule.steps[other], schedule.steps[number])) {
        return fmt::format("steps {} and {} touch the same elements in no order", other, number);
      }
    }
  }
  return {};
}

}  // namespace cohort::comm
