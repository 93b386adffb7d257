#include "comm/schedule/choice.h"

#include "base/check.h"
#include "comm/schedule/chunks.h"
#include "comm/schedule/hosts.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// Combining a shorter chunk takes no longer than the latency of one more message, so it gains nothing.
constexpr std::size_t kLeastChunkBytes = std::size_t{64} << 10;
constexpr std::size_t kMostChunks = 64;
constexpr std::size_t kMostPeers = 11;  // more peers make β no worse

bool is_rooted_by_parts(Operation operation) {
  return operation == Operation::kGather || operation == Operation::kScatter;
}

// Whether the longest message, cut into this many chunks, still has chunks of at least kLeastChunkBytes.
bool is_worth_cutting(const Effort& effort, std::size_t element_bytes, std::size_t chunks) {
  return effort.exposed + effort.relayed > 0 && chunks <= kMostChunks &&
         effort.longest * element_bytes / chunks >= kLeastChunkBytes;
}

// Predicts the time of one call from an Effort and Prices.
class PriceList {
 public:
  PriceList(const CallFacts& facts, std::size_t element_bytes, const Prices& prices)
      : prices_(prices),
        spans_hosts_(Hosts(facts).num_hosts() > 1),
        element_bytes_(static_cast<double>(element_bytes)),
        far_bytes_(facts.wire == WireDType::kSame ? element_bytes_ : 2.0),
        near_bytes_(facts.hosts.empty() ? far_bytes_ : element_bytes_) {}

  double seconds(Effort effort, HostAwareness awareness, std::size_t chunk_length) const {
    if (awareness == HostAwareness::kNone && spans_hosts_) {
      // An algorithm that does not know hosts may have a message between hosts in every step.
      std::swap(effort.steps, effort.far_steps);
      std::swap(effort.moved, effort.far_moved);
    }
    const auto number = [](std::size_t count) { return static_cast<double>(count); };
    const double combined =
        number(effort.exposed) + number(effort.combined - effort.exposed) * prices_.hidden_share;
    return number(effort.steps) * prices_.step_s + number(effort.moved) * near_bytes_ * prices_.byte_s +
           number(effort.far_steps) * prices_.far_step_s +
           far_elements(effort, chunk_length) * far_bytes_ * prices_.far_byte_s +
           combined * element_bytes_ * prices_.combined_byte_s;
  }

 private:
  // Elements moved between hosts, plus a share of them for waiting on late ranks.
  double far_elements(const Effort& effort, std::size_t chunk_length) const {
    if (!spans_hosts_) return static_cast<double>(effort.far_moved);
    const auto chunks = static_cast<double>(num_chunks(effort.longest, chunk_length));
    const auto further = static_cast<double>(std::min(effort.peers, kMostPeers) - 1);
    return static_cast<double>(effort.far_moved) * (1 + prices_.far_peer_share * further) +
           static_cast<double>(effort.relayed) * prices_.far_wait_share / chunks;
  }

  const Prices& prices_;
  const bool spans_hosts_;
  const double element_bytes_, far_bytes_, near_bytes_;
};

}  // namespace

double predict_seconds(const Algorithm& algorithm, const CallFacts& facts, std::size_t element_bytes,
                       const Prices& prices) {
  return PriceList(facts, element_bytes, prices)
      .seconds(algorithm.effort(facts), algorithm.host_awareness, facts.chunk_length);
}

Choice best_cut(const Algorithm& algorithm, const CallFacts& facts, std::size_t element_bytes,
                const Prices& prices) {
  const PriceList list(facts, element_bytes, prices);
  CallFacts cut = facts;
  cut.chunk_length = kUncut;
  const Effort uncut = algorithm.effort(cut);
  Choice best{.algorithm = &algorithm, .seconds = list.seconds(uncut, algorithm.host_awareness, kUncut)};
  for (std::size_t chunks = 2; is_worth_cutting(uncut, element_bytes, chunks); chunks *= 2) {
    cut.chunk_length = (uncut.longest + chunks - 1) / chunks;
    const double seconds = list.seconds(algorithm.effort(cut), algorithm.host_awareness, cut.chunk_length);
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
    std::stable_partition(choices.begin(), choices.end(), [](const Choice& choice) {
      return choice.algorithm->id == CollectiveAlgorithm::kStar;
    });
  }
  return choices;
}

Choice choose(const CallFacts& facts, std::size_t element_bytes, const Prices& prices) {
  const std::vector<Choice> choices = rank_choices(facts, element_bytes, prices);
  COHORT_CHECK(!choices.empty(), "no algorithm can run {}", name(facts.operation));
  return choices.front();
}

}  // namespace cohort::comm
