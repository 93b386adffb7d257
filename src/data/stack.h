#pragma once

#include <cohort/dataset.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cohort::data {

/// A batch that is made sample by sample.
///
/// Failure: add() throws UsageError, naming a sample that does not fit the first one.
/// Cost: one copy of each sample, on the calling thread alone: torch's threads belong to the model.
class Stack {
 public:
  /// For a batch of `count` samples.
  explicit Stack(std::size_t count) : count_(static_cast<std::int64_t>(count)) {}

  /// The next sample, which has this index in its data set.
  void add(const Sample& sample, std::int64_t index);
  /// After the last sample.
  Batch take() &&;

 private:
  struct Rows {
    std::string name;
    at::Tensor all;
  };
  void begin(const NamedTensors& first, std::int64_t index);
  void copy(const at::Tensor& tensor, const Rows& rows, std::int64_t index) const;

  const std::int64_t count_;
  std::vector<Rows> rows_;  // input, target, then the others
  std::vector<std::int64_t> indices_;
};

}  // namespace cohort::data
