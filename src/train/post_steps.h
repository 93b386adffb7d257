#pragma once

#include <cohort/post_steps.h>
#include <cohort/state.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cohort::train {

/// The masks of parameters, one per parameter: a byte for each element, in the order of its memory, 0 where
/// it stays zero. Empty for a parameter without a mask.
using ParameterMasks = std::vector<std::vector<std::uint8_t>>;

/// The post-steps of an optimizer: which it makes, and how many averages there are.
///
/// Threads: share() and has_mask() from any while no update is counted; the others one at a time.
class PostSteps {
 public:
  PostSteps() = default;
  PostSteps(const AverageOptions& average, const ParameterMasks& masks);

  bool has_average() const { return average_.kind != AverageKind::kNone; }
  bool has_mask(std::size_t parameter) const { return parameter < has_mask_.size() && has_mask_[parameter]; }
  /// The share of the parameters after the present update in their averages; 0: averages stay.
  double share() const;
  /// A step with an update is over.
  void count_update();
  /// The number of parameters that the averages have taken in.
  std::int64_t num_averages() const { return num_averages_; }
  /// Visits the numbers of updates and averages, `average/updates` and `average/n_averaged`, if there are
  /// averages.
  void visit(const StateVisitor& visitor);

 private:
  AverageOptions average_{};
  std::vector<bool> has_mask_{};  // per parameter
  std::int64_t num_updates_ = 0;
  std::int64_t num_averages_ = 0;
};

}  // namespace cohort::train
