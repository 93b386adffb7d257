#include "update/curves.h"

#include <algorithm>

namespace cohort::learning_rate {

// A loss that is NaN is not better than any other.
PlateauState after_loss(const Plateau& plateau, PlateauState state, double loss) {
  const double limit = plateau.threshold_mode == Plateau::Threshold::kRelative
                           ? state.best * (1 - plateau.threshold)
                           : state.best - plateau.threshold;
  if (loss < limit) {
    state.best = loss;
    state.num_bad = 0;
  } else {
    ++state.num_bad;
  }
  if (state.cooldown_left > 0) {
    --state.cooldown_left;
    state.num_bad = 0;
  }
  if (state.num_bad > plateau.patience) {
    ++state.reductions;
    state.cooldown_left = plateau.cooldown;
    state.num_bad = 0;
  }
  return state;
}

// Multiplied once for each reduction, as the learning rate is that is reduced again and again: a power would
// be rounded otherwise.
double rate_of_plateau(const Plateau& plateau, const CurvePoint& at) {
  double rate = at.rate;
  for (std::int64_t i = 0; i < at.plateau.reductions; ++i) {
    const double reduced = std::max(rate * plateau.factor, plateau.min_lr);
    if (!(rate - reduced > plateau.eps)) break;  // and so would all that follow
    rate = reduced;
  }
  return rate;
}

}  // namespace cohort::learning_rate
