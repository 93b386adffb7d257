#pragma once

#include "data/batch_first.h"
#include "data/generated.h"

#include <string>

namespace cohort::data {

/// Text of a chain in which the next letter depends on the last one alone: tokens i64 [context], and the same
/// one further.
class MarkovDataset final : public BatchFirst {
 public:
  MarkovDataset(GeneratedRange range, int letters, int context);

  std::int64_t size() const override { return range_.count; }
  /// How likely `to` follows `from`; a function of the seed alone.
  double probability(int from, int to) const;
  /// The smallest mean loss a model can reach: the mean surprise of a letter, when each is as likely to come
  /// before it as it is in the long run.
  double entropy() const;
  /// What the letters are called.
  std::vector<std::string> vocabulary() const;

 private:
  Batch allocate(std::int64_t count) const override;
  void write(std::int64_t index, std::int64_t at, const Batch& into) const override;
  std::int64_t next(std::int64_t letter, double chance) const;
  std::vector<double> in_the_long_run() const;

  const GeneratedRange range_;
  const int letters_;
  const int context_;
  std::vector<double> cumulative_;  // row `from`: the chance of a letter up to `to`
};

}  // namespace cohort::data
