#include "update/momentum.h"

namespace cohort {

bool has_momentum(const OptimizerSettings& settings) {
  const OptimizerSettings known = with_defaults(settings);
  if (known.kind == OptimizerKind::kNadam) return false;
  return known.betas || known.momentum.value_or(0) > 0;
}

void set_momentum(OptimizerSettings& settings, double momentum) {
  settings = with_defaults(settings);
  if (settings.betas) {
    settings.betas->first = momentum;
  } else {
    settings.momentum = momentum;
  }
}

}  // namespace cohort
