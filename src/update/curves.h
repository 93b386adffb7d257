#pragma once

#include <cohort/learning_rate_curves.h>

#include <cstdint>

namespace cohort::learning_rate {

/// The arguments of a curve.
struct CurvePoint {
  double rate;     ///< η, the learning rate of the optimizer
  std::int64_t t;  ///< steps since the end of the warm-up
  const PlateauState& plateau;
};

double rate_of(const Curve& curve, const CurvePoint& at);
double momentum_of(const OneCycle& cycle, std::int64_t t);
double rate_of_plateau(const Plateau& plateau, const CurvePoint& at);

}  // namespace cohort::learning_rate
