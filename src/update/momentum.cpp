#include "update/momentum.h"

namespace cohort {

bool has_momentum(const OptimizerSettings& settings) {
  return settings.kind != OptimizerKind::kSgd || settings.momentum > 0;
}

void set_momentum(OptimizerSettings& settings, double momentum) {
  if (settings.kind == OptimizerKind::kSgd) {
    settings.momentum = momentum;
  } else {
    settings.betas.first = momentum;
  }
}

}  // namespace cohort
