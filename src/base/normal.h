#pragma once

namespace cohort::base {

/// The natural logarithm of a normal positive number, within 1e-15 relative, the same bits on every IEEE
/// machine.
double portable_log(double x);

/// The x below which a standard normal variable falls with probability p, for 0 < p < 1; within 1e-15
/// relative.
double normal_quantile(double p);

}  // namespace cohort::base
