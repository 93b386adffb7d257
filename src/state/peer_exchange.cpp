#include "state/peer_exchange.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace cohort::state {
namespace {

constexpr std::size_t kNumbersOfRequest = 4;
constexpr std::size_t kLongestElement = 8;

std::size_t sum_of(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace

// A rank may have to send a window to every rank in the same round.
PeerExchange::PeerExchange(Communicator& group, std::span<const Piece> mine, std::size_t buffer_bytes)
    : group_(group),
      mine_(mine),
      window_bytes_(std::max(buffer_bytes / static_cast<std::size_t>(group.size()), kLongestElement)),
      requests_(static_cast<std::size_t>(group.size())),
      next_request_(static_cast<std::size_t>(group.size()), 0) {}

Status PeerExchange::run(std::span<const Wanted> wanted, const Taker& take) {
  cut(wanted);
  COHORT_RETURN_IF_ERROR(send_requests());
  for (std::int64_t round = 0; round < num_rounds_; ++round) {
    COHORT_RETURN_IF_ERROR(run_round(static_cast<std::size_t>(round), take));
  }
  return {};
}

// The rank's own pieces take no room in a window.
void PeerExchange::cut(std::span<const Wanted> wanted) {
  std::size_t round = 0, room = window_bytes_;
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    const Wanted& each = wanted[r];
    const bool is_own = each.holder == group_.rank();
    for (std::size_t first = 0; first < each.count;) {
      if (!is_own && room < each.element_bytes) {
        ++round;
        room = window_bytes_;
      }
      const std::size_t rest = each.count - first;
      const std::size_t count = is_own ? rest : std::min(rest, room / each.element_bytes);
      portions_.push_back({.read = r,
                           .first = first,
                           .holder = each.holder,
                           .size_bytes = count * each.element_bytes,
                           .request = {round, each.piece, each.from + first, count}});
      if (!is_own) room -= portions_.back().size_bytes;
      first += count;
    }
  }
  num_rounds_ = portions_.empty() ? 0 : static_cast<std::int64_t>(round) + 1;
}

Status PeerExchange::send_requests() {
  const std::size_t world = requests_.size();
  std::vector<std::vector<std::int64_t>> by_holder(world);
  for (const Portion& portion : portions_) {
    if (portion.holder == group_.rank()) continue;
    for (const std::size_t number :
         {portion.request.round, portion.request.piece, portion.request.from, portion.request.count}) {
      by_holder[static_cast<std::size_t>(portion.holder)].push_back(static_cast<std::int64_t>(number));
    }
  }
  std::vector<std::int64_t> sent, sizes, sizes_of_others(world);
  for (const auto& list : by_holder) {
    sent.insert(sent.end(), list.begin(), list.end());
    sizes.push_back(static_cast<std::int64_t>(list.size()));
  }
  COHORT_RETURN_IF_ERROR(
      group_.run(all_to_all(std::span<const std::int64_t>(sizes), std::span(sizes_of_others))));
  const std::vector<std::size_t> from_counts(sizes.begin(), sizes.end());
  const std::vector<std::size_t> to_counts(sizes_of_others.begin(), sizes_of_others.end());
  std::vector<std::int64_t> received(sum_of(to_counts));
  COHORT_RETURN_IF_ERROR(group_.run(
      all_to_all(std::span<const std::int64_t>(sent), std::span(received), from_counts, to_counts)));
  auto next = received.begin();
  for (std::size_t rank = 0; rank < world; ++rank) {
    for (std::size_t i = 0; i < to_counts[rank] / kNumbersOfRequest; ++i, next += kNumbersOfRequest) {
      const auto number = [&](int which) { return static_cast<std::size_t>(next[which]); };
      requests_[rank].push_back({number(0), number(1), number(2), number(3)});
      COHORT_RETURN_IF_ERROR(check(requests_[rank].back(), static_cast<int>(rank)));
    }
  }
  return group_.run(all_reduce(std::span(&num_rounds_, 1), ReduceOp::kMax));
}

Status PeerExchange::check(const Request& request, int from) const {
  const bool fits = request.piece < mine_.size() && request.from <= mine_[request.piece].mine.count &&
                    request.count <= mine_[request.piece].mine.count - request.from;
  if (fits) return {};
  return Error(
             ErrorCode::kCorrupt,
             fmt::format("rank {} asks for {} elements of piece {} of this rank, from number {} on, which it "
                         "does not have",
                         group_.global_rank(from), request.count, request.piece, request.from))
      .with_rank(group_.global_rank(from));
}

Status PeerExchange::run_round(std::size_t round, const Taker& take) {
  std::vector<std::size_t> from_counts(requests_.size()), to_counts(requests_.size());
  pack(round, from_counts);
  std::size_t last = next_portion_;
  for (; last < portions_.size() && portions_[last].request.round == round; ++last) {
    const Portion& portion = portions_[last];
    if (portion.holder == group_.rank()) continue;
    to_counts[static_cast<std::size_t>(portion.holder)] += portion.size_bytes;
  }
  received_.resize(sum_of(to_counts));
  COHORT_RETURN_IF_ERROR(group_.run(
      all_to_all(std::span<const std::byte>(sent_), std::span(received_), from_counts, to_counts)));
  deliver(last, to_counts, take);
  return {};
}

std::span<const std::byte> PeerExchange::bytes_of(const Request& request) const {
  const std::size_t size = cohort::size_bytes(mine_[request.piece].dtype);
  return mine_[request.piece].bytes.subspan(request.from * size, request.count * size);
}

// Puts everything that this rank sends in a round into `sent_`, in the order of ranks.
void PeerExchange::pack(std::size_t round, std::vector<std::size_t>& counts) {
  sent_.clear();
  for (std::size_t rank = 0; rank < requests_.size(); ++rank) {
    std::size_t& next = next_request_[rank];
    for (; next < requests_[rank].size() && requests_[rank][next].round == round; ++next) {
      const std::span<const std::byte> bytes = bytes_of(requests_[rank][next]);
      sent_.insert(sent_.end(), bytes.begin(), bytes.end());
      counts[rank] += bytes.size();
    }
  }
}

// Hands over the portions before `last`, in their order.
void PeerExchange::deliver(std::size_t last, const std::vector<std::size_t>& counts, const Taker& take) {
  std::vector<std::size_t> next(counts.size(), 0);  // per rank: the offset of its next bytes
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::size_t{0});
  for (; next_portion_ < last; ++next_portion_) {
    const Portion& portion = portions_[next_portion_];
    if (portion.holder == group_.rank()) {
      take(portion.read, portion.first, bytes_of(portion.request));
      continue;
    }
    std::size_t& first = next[static_cast<std::size_t>(portion.holder)];
    take(portion.read, portion.first,
         std::span<const std::byte>(received_).subspan(first, portion.size_bytes));
    first += portion.size_bytes;
  }
}

}  // namespace cohort::state
