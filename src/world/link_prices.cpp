#include "world/link_prices.h"

#include "comm/numbers/combine.h"
#include "storage/local_file_system.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace cohort::world {
namespace {

using namespace std::chrono_literals;
using comm::LinkFigures;
using std::chrono::steady_clock;

constexpr double kUnknown = 0;
constexpr auto kNearTime = 10ms;
constexpr std::size_t kMostHostsInTurn = 5;
// Long enough for links of 10 Gbit/s, and short enough not to flood a network that many jobs share.
constexpr std::size_t kLongestProbe = std::size_t{4} << 20;

/// Latency and seconds per byte of every pair of hosts; the diagonal holds the links inside hosts.
class LinkTable {
 public:
  explicit LinkTable(std::size_t num_hosts)
      : num_hosts_(num_hosts), figures_(num_hosts * num_hosts * 2, kUnknown) {}

  bool knows(int first, int second) const { return figures_[at(first, second)] != kUnknown; }
  void set(int first, int second, const LinkFigures& figures) {
    figures_[at(first, second)] = figures.latency_s;
    figures_[at(first, second) + 1] = figures.byte_s;
  }
  LinkFigures get(int first, int second) const {
    return {figures_[at(first, second)], figures_[at(first, second) + 1]};
  }

  // Merges the tables of all ranks: unknown entries are 0, and ranks that know a link agree on its figures.
  Status share(Communicator& group) {
    return group.run(all_reduce(std::span<double>(figures_), ReduceOp::kMax));
  }

  /// Median rate of the links of a host to others, in bytes per second; 0 without other hosts.
  double middle_of(int host) const {
    std::vector<double> rates;
    for (int other = 0; other < static_cast<int>(num_hosts_); ++other) {
      if (other != host) rates.push_back(1 / get(host, other).byte_s);
    }
    return rates.empty() ? 0 : middle(std::move(rates));
  }

  /// The figures for calls between hosts. For bytes those of the slowest link, as all ranks wait for it; for
  /// messages the median latency, as disturbances only ever make a measured latency longer.
  LinkFigures between_hosts() const {
    double slowest = 0;
    std::vector<double> latencies;
    for (int first = 0; first < static_cast<int>(num_hosts_); ++first) {
      for (int second = first + 1; second < static_cast<int>(num_hosts_); ++second) {
        latencies.push_back(get(first, second).latency_s);
        slowest = std::max(slowest, get(first, second).byte_s);
      }
    }
    return {latencies.empty() ? 0 : middle(std::move(latencies)), slowest};
  }

 private:
  static double middle(std::vector<double> numbers) {
    const auto median = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), median, numbers.end());
    return *median;
  }
  std::size_t at(int first, int second) const {
    return 2 * (static_cast<std::size_t>(std::min(first, second)) * num_hosts_ +
                static_cast<std::size_t>(std::max(first, second)));
  }
  const std::size_t num_hosts_;
  std::vector<double> figures_;
};

/// One rank's part in fit_prices().
class Survey {
 public:
  Survey(Communicator& group, LinkCache& cache, const PricingOptions& options)
      : group_(group), cache_(cache), options_(options) {
    for (std::size_t rank = 0; rank < options.hosts.size(); ++rank) {
      const auto host = static_cast<std::size_t>(options.hosts[rank]);
      if (host >= ranks_of_.size()) ranks_of_.resize(host + 1);
      ranks_of_[host].push_back(static_cast<int>(rank));
    }
    host_ = options.hosts[static_cast<std::size_t>(group.rank())];
  }

  Result<Pricing> run() {
    LinkTable links(ranks_of_.size());
    COHORT_RETURN_IF_ERROR(tell_identities());
    if (is_leader()) look_up(links);
    COHORT_RETURN_IF_ERROR(links.share(group_));
    COHORT_RETURN_IF_ERROR(measure_inside(links));  // before rounds between hosts, which may take long
    COHORT_RETURN_IF_ERROR(measure_links(links));
    COHORT_RETURN_IF_ERROR(links.share(group_));
    COHORT_ASSIGN_OR_RETURN(const comm::Prices prices, prices_of(links));
    return Pricing{.prices = prices, .far_bytes_per_s = links.middle_of(host_)};
  }

 private:
  bool is_leader() const { return own_host().front() == group_.rank(); }
  const std::vector<int>& own_host() const { return ranks_of_[static_cast<std::size_t>(host_)]; }
  int leader_of(int host) const { return ranks_of_[static_cast<std::size_t>(host)].front(); }

  Status tell_identities() {
    LocalFileSystem files;
    const std::array<std::int64_t, 1> own = {
        std::bit_cast<std::int64_t>(host_identity(files, options_.addresses))};
    identities_.resize(static_cast<std::size_t>(group_.size()));
    return group_.run(all_gather(ConstNumbers(std::span<const std::int64_t>(own)), std::span(identities_)));
  }

  LinkName name_of(int other_host) const {
    const auto identity = [&](int host) {
      return std::bit_cast<std::uint64_t>(identities_[static_cast<std::size_t>(leader_of(host))]);
    };
    return {.first = identity(host_), .second = identity(other_host), .way = options_.way};
  }

  void look_up(LinkTable& links) const {
    for (int other = host_ + 1; other < static_cast<int>(ranks_of_.size()); ++other) {
      if (const auto known = cache_.find(name_of(other))) links.set(host_, other, *known);
    }
  }

  // A few links are measured one at a time, as simultaneous measurements may disturb each other.
  Status measure_links(LinkTable& links) {
    const bool in_turn = ranks_of_.size() <= kMostHostsInTurn;
    for (const auto& round : comm::probe_rounds(static_cast<int>(ranks_of_.size()))) {
      for (const auto& [first, second] : round) {
        if (links.knows(first, second)) continue;
        if (in_turn) COHORT_RETURN_IF_ERROR(group_.run(barrier()));
        if (!is_leader() || (first != host_ && second != host_)) continue;
        const int other = first == host_ ? second : first;
        COHORT_ASSIGN_OR_RETURN(const LinkFigures found, comm::probe_link(group_, leader_of(other),
                                                                          {.time = options_.link_time,
                                                                           .most_bytes = kLongestProbe,
                                                                           .limit = options_.limit}));
        links.set(first, second, found);
        if (first == host_) cache_.keep(name_of(other), found);
      }
    }
    return {};
  }

  // Measures between the first two ranks of each host with at least two.
  Status measure_inside(LinkTable& links) {
    const std::vector<int>& here = own_host();
    if (here.size() < 2 || (group_.rank() != here[0] && group_.rank() != here[1])) return {};
    const int other = group_.rank() == here[0] ? here[1] : here[0];
    COHORT_ASSIGN_OR_RETURN(const LinkFigures found,
                            comm::probe_link(group_, other, {.time = kNearTime, .limit = options_.limit}));
    links.set(host_, host_, found);
    return {};
  }

  Result<comm::Prices> prices_of(const LinkTable& links) {
    comm::Prices prices;
    const LinkFigures far = links.between_hosts();
    if (ranks_of_.size() > 1) {
      prices.far_step_s = far.latency_s;
      prices.far_byte_s = far.byte_s;
    }
    for (int host = 0; host < static_cast<int>(ranks_of_.size()); ++host) {
      if (!links.knows(host, host)) continue;
      prices.step_s = links.get(host, host).latency_s;
      prices.byte_s = links.get(host, host).byte_s;
      break;
    }
    double combined = seconds_to_combine_a_byte();
    COHORT_RETURN_IF_ERROR(group_.run(all_reduce(std::span<double>(&combined, 1), ReduceOp::kMax)));
    prices.combined_byte_s = combined;
    return prices;
  }

  // Uses buffers larger than the CPU caches, as numbers that come over a link are not in a cache either.
  static double seconds_to_combine_a_byte() {
    constexpr std::size_t kCount = std::size_t{1} << 20;
    std::vector<float> to(kCount), from(kCount);
    const std::array<const std::byte*, 2> inputs = {reinterpret_cast<const std::byte*>(to.data()),
                                                    reinterpret_cast<const std::byte*>(from.data())};
    const std::array<std::byte*, 1> targets = {reinterpret_cast<std::byte*>(to.data())};
    double best_s = std::numeric_limits<double>::max();
    for (int i = 0; i < 3; ++i) {
      const auto begin = steady_clock::now();
      comm::combine(ReduceOp::kSum, DType::kF32, inputs, targets, kCount);
      best_s = std::min(best_s, std::chrono::duration<double>(steady_clock::now() - begin).count());
    }
    return best_s / (kCount * sizeof(float));
  }

  Communicator& group_;
  LinkCache& cache_;
  const PricingOptions& options_;
  std::vector<std::vector<int>> ranks_of_;  // by host
  int host_ = 0;
  std::vector<std::int64_t> identities_;  // by rank
};

}  // namespace

Result<Pricing> fit_prices(Communicator& group, LinkCache& cache, const PricingOptions& options) {
  return Survey(group, cache, options).run();
}

}  // namespace cohort::world
