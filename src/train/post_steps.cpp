#include "train/post_steps.h"

#include "train/tensor_pieces.h"
#include "update/average.h"

namespace cohort::train {

PostSteps::PostSteps(const AverageOptions& average, const ParameterMasks& masks) : average_(average) {
  for (const auto& mask : masks) has_mask_.push_back(!mask.empty());
}

double PostSteps::share() const {
  if (!update::is_average_due(average_, num_updates_ + 1)) return 0;
  return update::average_share(average_, num_averages_);
}

void PostSteps::count_update() {
  ++num_updates_;
  if (update::is_average_due(average_, num_updates_)) ++num_averages_;
}

void PostSteps::visit(const StateVisitor& visitor) {
  if (!has_average()) return;
  visitor(number_piece("average/updates", num_updates_));
  visitor(number_piece("average/n_averaged", num_averages_));
}

}  // namespace cohort::train
