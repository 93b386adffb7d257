#include "data/markov.h"

#include "base/check.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <cohort/random.h>

namespace cohort::data {
namespace {

constexpr std::uint64_t kMarkovStream = 0x6D61726B6F76;
constexpr std::uint64_t kChainStream = 0x636861696E;

std::size_t index_of(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

}  // namespace

MarkovDataset::MarkovDataset(GeneratedRange range, int letters, int context)
    : range_(range), letters_(letters), context_(context) {
  COHORT_CHECK_GE(letters, 1);
  COHORT_CHECK_GE(context, 1);
  const RandomStream law(range_.seed, kChainStream);
  for (int from = 0; from < letters; ++from) {
    std::vector<double> row;
    double sum = 0;
    for (int to = 0; to < letters; ++to) {
      const double chance =
          law.substream(static_cast<std::uint64_t>(from)).uniform(static_cast<std::uint64_t>(to));
      sum += chance * chance * chance + 1e-3;  // a few letters are likely, every letter is possible
      row.push_back(sum);
    }
    for (double& value : row) value /= sum;
    cumulative_.insert(cumulative_.end(), row.begin(), row.end());
  }
}

double MarkovDataset::probability(int from, int to) const {
  const double* row = cumulative_.data() + index_of(from) * index_of(letters_);
  return row[to] - (to > 0 ? row[to - 1] : 0);
}

// The stationary distribution, by iteration. Every letter may follow every other, so the iteration converges.
std::vector<double> MarkovDataset::in_the_long_run() const {
  std::vector<double> share(index_of(letters_), 1.0 / letters_);
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> later(share.size());
    for (int from = 0; from < letters_; ++from) {
      for (int to = 0; to < letters_; ++to) {
        later[index_of(to)] += share[index_of(from)] * probability(from, to);
      }
    }
    if (later == share) break;
    share = std::move(later);
  }
  return share;
}

double MarkovDataset::entropy() const {
  const std::vector<double> share = in_the_long_run();
  double sum = 0;
  for (int from = 0; from < letters_; ++from) {
    for (int to = 0; to < letters_; ++to) {
      const double chance = probability(from, to);
      sum -= share[index_of(from)] * chance * std::log(chance);
    }
  }
  return sum;
}

std::vector<std::string> MarkovDataset::vocabulary() const {
  std::vector<std::string> names;
  for (int letter = 0; letter < letters_; ++letter) {
    names.push_back(letters_ <= 26 ? std::string(1, static_cast<char>('a' + letter))
                                   : "<" + std::to_string(letter) + ">");
  }
  return names;
}

std::int64_t MarkovDataset::next(std::int64_t letter, double chance) const {
  const auto row = cumulative_.begin() + letter * letters_;
  const auto found = std::upper_bound(row, row + letters_, chance);
  return std::min<std::int64_t>(found - row, letters_ - 1);
}

Batch MarkovDataset::allocate(std::int64_t count) const {
  return {at::empty({count, context_}, at::kLong), at::empty({count, context_}, at::kLong), {}};
}

void MarkovDataset::write(std::int64_t index, std::int64_t row, const Batch& into) const {
  const auto stream =
      RandomStream(range_.seed, kMarkovStream).substream(range_.first + static_cast<std::uint64_t>(index));
  auto* input = row_of<std::int64_t>(into.input, row, context_);
  auto* target = row_of<std::int64_t>(into.target, row, context_);
  auto letter = static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(letters_), 0));
  for (int i = 0; i < context_; ++i) {
    input[i] = letter;
    letter = next(letter, stream.uniform(static_cast<std::uint64_t>(i) + 1));
    target[i] = letter;
  }
}

}  // namespace cohort::data
