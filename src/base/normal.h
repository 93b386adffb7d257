#pragma once

namespace cohort::base {

/// The natural logarithm of a positive, not subnormal number. The relative error is below 1e-15 and the bits
/// are the same on every IEEE machine.
double portable_log(double x);

/// The quantile function of the standard normal distribution, for 0 < p < 1. The relative error is below
/// 1e-15.
double normal_quantile(double p);

}  // namespace cohort::base
