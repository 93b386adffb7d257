#include "schedule_check.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace cohort::comm {
namespace {

/// Time in messages: every message takes one unit at both ends.
class StepCount {
 public:
  explicit StepCount(const std::vector<Schedule>& schedules) : schedules_(schedules) {
    const std::size_t world = schedules.size();
    out_free_.resize(world);
    in_free_.resize(world);
    for (std::size_t rank = 0; rank < world; ++rank) {
      const auto& steps = schedules[rank].steps;
      missing_.emplace_back();
      followers_.emplace_back(steps.size());
      time_.emplace_back(steps.size(), 0);
      std::map<std::pair<StepKind, int>, int> numbers;
      number_.emplace_back();
      for (std::size_t step = 0; step < steps.size(); ++step) {
        missing_[rank].push_back(steps[step].after.size());
        number_[rank].push_back(numbers[{steps[step].kind, steps[step].peer}]++);
        for (const int before : steps[step].after)
          followers_[rank][at(before)].push_back(static_cast<int>(step));
      }
      for (std::size_t step = 0; step < steps.size(); ++step) {
        if (steps[step].after.empty()) begin(static_cast<int>(rank), static_cast<int>(step));
      }
    }
  }

  std::size_t count() {
    std::size_t end = 0;
    while (!pairs_.empty()) {
      const auto next = std::min_element(pairs_.begin(), pairs_.end(), [&](const Pair& a, const Pair& b) {
        return std::tuple(start_of(a), a.send, a.from) < std::tuple(start_of(b), b.send, b.from);
      });
      const Pair pair = *next;
      *next = pairs_.back();
      pairs_.pop_back();
      const std::size_t done = start_of(pair) + 1;
      out_free_[at(pair.from)] = in_free_[at(pair.to)] = done;
      end = std::max(end, done);
      finish(pair.from, pair.send, done);
      finish(pair.to, pair.receive, done);
    }
    return end;
  }

 private:
  struct Pair {
    int from = 0, send = 0, to = 0, receive = 0;
    std::size_t ready = 0;
  };

  std::size_t start_of(const Pair& pair) const {
    return std::max({pair.ready, out_free_[at(pair.from)], in_free_[at(pair.to)]});
  }

  void begin(int rank, int number) {
    const Step& step = schedules_[at(rank)].steps[at(number)];
    if (step.kind != StepKind::kSend && step.kind != StepKind::kReceive)
      return finish(rank, number, time_[at(rank)][at(number)]);
    const bool sends = step.kind == StepKind::kSend;
    const int from = sends ? rank : step.peer;
    const int to = sends ? step.peer : rank;
    const std::tuple key(from, to, number_[at(rank)][at(number)]);
    const auto other = waiting_.find(key);
    if (other == waiting_.end()) {
      waiting_.emplace(key, number);
      return;
    }
    const int send = sends ? number : other->second;
    const int receive = sends ? other->second : number;
    waiting_.erase(other);
    pairs_.push_back(
        {from, send, to, receive, std::max(time_[at(from)][at(send)], time_[at(to)][at(receive)])});
  }

  void finish(int rank, int number, std::size_t done) {
    for (const int follower : followers_[at(rank)][at(number)]) {
      std::size_t& time = time_[at(rank)][at(follower)];
      time = std::max(time, done);
      if (--missing_[at(rank)][at(follower)] == 0) begin(rank, follower);
    }
  }

  const std::vector<Schedule>& schedules_;
  std::vector<std::vector<std::size_t>> missing_, time_;
  std::vector<std::vector<std::vector<int>>> followers_;
  std::vector<std::vector<int>> number_;
  std::vector<std::size_t> out_free_, in_free_;
  std::map<std::tuple<int, int, int>, int> waiting_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::size_t count_steps(const std::vector<Schedule>& schedules) {
  return StepCount(schedules).count();
}

}  // namespace cohort::comm
