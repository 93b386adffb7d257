#pragma once

#include "data/batch_first.h"
#include "data/generated.h"

#include <string>

namespace cohort::data {

/// Text of a Markov chain, in which the next letter depends on the last letter alone: input i64 [context],
/// and as target the same tokens shifted by one.
class MarkovDataset final : public BatchFirst {
 public:
  MarkovDataset(GeneratedRange range, int letters, int context);

  std::int64_t size() const override { return range_.count; }
  /// The probability that `to` follows `from`; a function of the seed alone.
  double probability(int from, int to) const;
  /// The entropy rate of the chain: the smallest mean loss that a model can reach.
  double entropy() const;
  /// The text of each letter.
  std::vector<std::string> vocabulary() const;

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t row, const Batch& into) const override;
  std::int64_t next(std::int64_t letter, double chance) const;
  std::vector<double> in_the_long_run() const;

  const GeneratedRange range_;
  const int letters_;
  const int context_;
  std::vector<double> cumulative_;  // row `from`, column `to`: the probability of a letter up to `to`
};

}  // namespace cohort::data
