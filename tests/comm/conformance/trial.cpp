#include "comm/conformance/trial.h"

#include <numeric>

namespace cohort::test {
namespace {

using Counts = std::vector<std::size_t>;

constexpr double kJunk = 77;

std::size_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}
std::size_t first_of(const Counts& counts, int part) {
  return std::accumulate(counts.begin(), counts.begin() + part, std::size_t{0});
}

/// The value that rank `from` sends to rank `to` in an all_to_all.
std::size_t pair_count(const Trial& trial, int from, int to) {
  if (trial.cut == Cut::kEqual) return trial.count;
  return trial.count * static_cast<std::size_t>((from * 2 + to * 3 + 1) % 4) / 2;
}

/// Values of the trials: the input of each rank and the expected output.
class Runner {
 public:
  Runner(Seat& seat, const Trial& trial)
      : seat_(seat),
        trial_(trial),
        rank_(seat->rank()),
        world_(seat->size()),
        counts_(counts_of(trial, world_)) {}

  Status run() {
    switch (trial_.operation) {
      case Operation::kBarrier:
        return seat_->run(barrier());
      case Operation::kAllReduce:
        return all_reduce_trial();
      case Operation::kReduce:
        return reduce_trial();
      case Operation::kBroadcast:
        return broadcast_trial();
      case Operation::kReduceScatter:
        return reduce_scatter_trial();
      case Operation::kAllGather:
        return all_gather_trial();
      case Operation::kGather:
        return gather_trial();
      case Operation::kScatter:
        return scatter_trial();
      case Operation::kAllToAll:
        return all_to_all_trial();
      case Operation::kSend:
      case Operation::kReceive:
        break;
    }
    return unexpected(seat_, "not a collective");
  }

 private:
  bool is_root() const { return rank_ == trial_.root; }
  bool is_in_place() const { return trial_.placement == Placement::kInPlace; }
  std::size_t own_count() const { return counts_[static_cast<std::size_t>(rank_)]; }
  Counts given_counts() const { return trial_.cut == Cut::kRagged ? counts_ : Counts{}; }
  auto mine() const {
    return [r = rank_](std::size_t i) { return value_of(r, i); };
  }
  auto combination(std::size_t first = 0) const {
    return [this, first](std::size_t i) { return combined_value(trial_.op, world_, first + i); };
  }
  static auto junk() {
    return [](std::size_t) { return kJunk; };
  }

  Status wrong(const char* what) const { return unexpected(seat_, "{}: {}", trial_.text(), what); }

  Status check(bool is_right, std::initializer_list<const Guarded*> buffers) const {
    if (!is_right) return wrong("the result is wrong");
    for (const Guarded* buffer : buffers) {
      if (!buffer->margins_are_intact()) return wrong("something beside the numbers was written");
    }
    return {};
  }
  Status check_untouched(const Guarded& input) const {
    return input.holds(mine()) ? Status{} : wrong("the input was changed");
  }

  Status all_reduce_trial() {
    Guarded input(trial_.count, trial_.dtype, seat_.memory);
    Guarded output(trial_.count, trial_.dtype, seat_.memory);
    input.fill(mine());
    output.fill(junk());
    if (is_in_place()) {
      COHORT_RETURN_IF_ERROR(seat_->run(all_reduce(input.numbers(), trial_.op)));
      return check(input.holds(combination()), {&input});
    }
    COHORT_RETURN_IF_ERROR(seat_->run(all_reduce(input.numbers(), output.numbers(), trial_.op)));
    COHORT_RETURN_IF_ERROR(check_untouched(input));
    return check(output.holds(combination()), {&input, &output});
  }

  Status reduce_trial() {
    Guarded input(trial_.count, trial_.dtype, seat_.memory);
    Guarded output(trial_.count, trial_.dtype, seat_.memory);
    input.fill(mine());
    output.fill(junk());
    const bool same = is_in_place() && is_root();
    const Numbers to = same ? input.numbers() : output.numbers();
    COHORT_RETURN_IF_ERROR(seat_->run(reduce(input.numbers(), to, trial_.root, trial_.op)));
    if (!same) COHORT_RETURN_IF_ERROR(check_untouched(input));
    if (!is_root()) return check(output.holds(junk()), {&input, &output});
    return check((same ? input : output).holds(combination()), {&input, &output});
  }

  Status broadcast_trial() {
    Guarded numbers(trial_.count, trial_.dtype, seat_.memory);
    if (is_root())
      numbers.fill(mine());
    else
      numbers.fill(junk());
    COHORT_RETURN_IF_ERROR(seat_->run(broadcast(numbers.numbers(), trial_.root)));
    return check(numbers.holds([&](std::size_t i) { return value_of(trial_.root, i); }), {&numbers});
  }

  Status reduce_scatter_trial() {
    Guarded input(sum(counts_), trial_.dtype, seat_.memory);
    Guarded output(own_count(), trial_.dtype, seat_.memory);
    input.fill(mine());
    output.fill(junk());
    const std::size_t first = first_of(counts_, rank_);
    const Numbers to = is_in_place() ? input.part(first, own_count()) : output.numbers();
    COHORT_RETURN_IF_ERROR(seat_->run(reduce_scatter(input.numbers(), to, trial_.op, given_counts())));
    if (is_in_place()) return check(input.holds(first, own_count(), combination(first)), {&input});
    COHORT_RETURN_IF_ERROR(check_untouched(input));
    return check(output.holds(combination(first)), {&input, &output});
  }

  bool holds_all_parts(const Guarded& whole) const {
    for (int r = 0; r < world_; ++r) {
      const auto theirs = [r](std::size_t i) { return value_of(r, i); };
      if (!whole.holds(first_of(counts_, r), counts_[static_cast<std::size_t>(r)], theirs)) return false;
    }
    return true;
  }

  Status gather_with(const std::function<Call(ConstNumbers, Numbers)>& call, bool gets_result) {
    Guarded input(own_count(), trial_.dtype, seat_.memory);
    Guarded output(sum(counts_), trial_.dtype, seat_.memory);
    input.fill(mine());
    output.fill(junk());
    Numbers from = input.numbers();
    if (is_in_place() && gets_result) {
      from = output.part(first_of(counts_, rank_), own_count());
      for (std::size_t i = 0; i < own_count(); ++i) {
        store(trial_.dtype, static_cast<double>(value_of(rank_, i)),
              from.data + i * size_bytes(trial_.dtype));
      }
    }
    COHORT_RETURN_IF_ERROR(seat_->run(call(from, output.numbers())));
    COHORT_RETURN_IF_ERROR(check_untouched(input));
    if (!gets_result) return check(output.holds(junk()), {&input, &output});
    return check(holds_all_parts(output), {&input, &output});
  }
  Status all_gather_trial() {
    return gather_with([&](ConstNumbers from, Numbers to) { return all_gather(from, to, given_counts()); },
                       true);
  }
  Status gather_trial() {
    return gather_with(
        [&](ConstNumbers from, Numbers to) {
          return is_root() ? gather(from, to, trial_.root, given_counts()) : gather(from, {}, trial_.root);
        },
        is_root());
  }

  Status scatter_trial() {
    Guarded input(is_root() ? sum(counts_) : 0, trial_.dtype, seat_.memory);
    Guarded output(own_count(), trial_.dtype, seat_.memory);
    input.fill(mine());
    output.fill(junk());
    const std::size_t first = first_of(counts_, rank_);
    const bool same = is_in_place() && is_root();
    const Numbers to = same ? input.part(first, own_count()) : output.numbers();
    const Counts counts = is_root() ? given_counts() : Counts{};
    COHORT_RETURN_IF_ERROR(seat_->run(scatter(input.numbers(), to, trial_.root, counts)));
    COHORT_RETURN_IF_ERROR(check_untouched(input));
    const auto expected = [&](std::size_t i) { return value_of(trial_.root, first + i); };
    const bool is_right = same ? input.holds(first, own_count(), expected) : output.holds(expected);
    return check(is_right, {&input, &output});
  }

  Status all_to_all_trial() {
    Counts giving;
    Counts getting;
    for (int other = 0; other < world_; ++other) {
      giving.push_back(pair_count(trial_, rank_, other));
      getting.push_back(pair_count(trial_, other, rank_));
    }
    Guarded input(sum(giving), trial_.dtype, seat_.memory);
    Guarded output(sum(getting), trial_.dtype, seat_.memory);
    input.fill(mine());
    output.fill(junk());
    const bool ragged = trial_.cut == Cut::kRagged;
    COHORT_RETURN_IF_ERROR(seat_->run(ragged ? all_to_all(input.numbers(), output.numbers(), giving, getting)
                                             : all_to_all(input.numbers(), output.numbers())));
    COHORT_RETURN_IF_ERROR(check_untouched(input));
    bool is_right = true;
    for (int from = 0; from < world_; ++from) {
      std::size_t first = 0;
      for (int to = 0; to < rank_; ++to) first += pair_count(trial_, from, to);
      is_right = is_right && output.holds(first_of(getting, from), getting[static_cast<std::size_t>(from)],
                                          [&](std::size_t i) { return value_of(from, first + i); });
    }
    return check(is_right, {&input, &output});
  }

  Seat& seat_;
  const Trial trial_;
  const int rank_;
  const int world_;
  const Counts counts_;
};

}  // namespace

std::string Trial::text() const {
  return fmt::format("{} of {} {} ({}), root {}, {}, {}", name(operation), count, name(dtype), name(op), root,
                     placement == Placement::kInPlace ? "in place" : "apart",
                     cut == Cut::kRagged ? "ragged" : "equal");
}

std::vector<std::size_t> counts_of(const Trial& trial, int world) {
  Counts counts;
  for (int r = 0; r < world; ++r) {
    const bool equal = trial.cut == Cut::kEqual;
    counts.push_back(equal ? trial.count : trial.count * static_cast<std::size_t>((r * 3 + 1) % 4) / 2);
  }
  return counts;
}

Status run_trial(Seat& seat, const Trial& trial) {
  return Runner(seat, trial).run().within(trial.text());
}

}  // namespace cohort::test
