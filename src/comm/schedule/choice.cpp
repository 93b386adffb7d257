#include "comm/schedule/choice.h"

#include "base/check.h"
#include "comm/schedule/hosts.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// Shorter chunks gain nothing: what one takes to combine is as long as what a message costs.
constexpr std::size_t kLeastChunkBytes = std::size_t{64} << 10;
constexpr std::size_t kMostChunks = 64;

bool is_rooted_by_parts(Operation operation) {
  return operation == Operation::kGather || operation == Operation::kScatter;
}

// Whether the message that is cut into as many chunks has chunks worth a message.
bool is_worth_cutting(const Effort& effort, std::size_t element_bytes, std::size_t chunks) {
  return effort.exposed > 0 && chunks <= kMostChunks &&
         effort.longest * element_bytes / chunks >= kLeastChunkBytes;
}

}  // namespace

double predict_seconds(const Algorithm& algorithm, const CallFacts& facts, std::size_t element_bytes,
                       const Prices& prices) {
  Effort effort = algorithm.effort(facts);
  if (algorithm.host_awareness == HostAwareness::kNone && Hosts(facts).num_hosts() > 1) {
    // What does not know hosts has a far message in every step.
    std::swap(effort.steps, effort.far_steps);
    std::swap(effort.moved, effort.far_moved);
  }
  const std::size_t far_bytes = facts.wire == WireDType::kSame ? element_bytes : 2;
  const std::size_t near_bytes = facts.hosts.empty() ? far_bytes : element_bytes;
  const auto bytes = [](std::size_t elements, std::size_t width) {
    return static_cast<double>(elements * width);
  };
  return static_cast<double>(effort.steps) * prices.step_s + bytes(effort.moved, near_bytes) * prices.byte_s +
         static_cast<double>(effort.far_steps) * prices.far_step_s +
         bytes(effort.far_moved, far_bytes) * prices.far_byte_s +
         (bytes(effort.exposed, element_bytes) +
          bytes(effort.combined - effort.exposed, element_bytes) * prices.hidden_share) *
             prices.combined_byte_s;
}

Choice best_cut(const Algorithm& algorithm, const CallFacts& facts, std::size_t element_bytes,
                const Prices& prices) {
  CallFacts cut = facts;
  cut.chunk_length = kUncut;
  const Effort effort = algorithm.effort(cut);
  Choice best{.algorithm = &algorithm, .seconds = predict_seconds(algorithm, cut, element_bytes, prices)};
  for (std::size_t chunks = 2; is_worth_cutting(effort, element_bytes, chunks); chunks *= 2) {
    cut.chunk_length = (effort.longest + chunks - 1) / chunks;
    const double seconds = predict_seconds(algorithm, cut, element_bytes, prices);
    if (seconds < best.seconds) best = {&algorithm, chunks, cut.chunk_length, seconds};
  }
  return best;
}

std::vector<Choice> rank_choices(const CallFacts& facts, std::size_t element_bytes, const Prices& prices) {
  std::vector<Choice> choices;
  for (const Algorithm& algorithm : all_algorithms()) {
    if (serves(algorithm, facts)) choices.push_back(best_cut(algorithm, facts, element_bytes, prices));
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.seconds < b.seconds; });
  if (is_rooted_by_parts(facts.operation)) {
    std::stable_partition(choices.begin(), choices.end(),
                          [](const Choice& choice) { return choice.algorithm->name == "star"; });
  }
  return choices;
}

Choice choose(const CallFacts& facts, std::size_t element_bytes, const Prices& prices) {
  const std::vector<Choice> choices = rank_choices(facts, element_bytes, prices);
  COHORT_CHECK(!choices.empty(), "no algorithm serves {}", name(facts.operation));
  return choices.front();
}

}  // namespace cohort::comm
