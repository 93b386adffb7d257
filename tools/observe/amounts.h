#pragma once

#include <string>

namespace cohort::observe {

/// A count with three digits and a letter: `843`, `12.3k`, `1.05M`, `0.52`.
std::string format_amount(double amount);
/// A duration: `45s`, `1m20s`, `2h05m`, `3d04h`.
std::string format_time_left(double seconds);
/// A number with at most five digits: `0.12345`, `2.3026`, `1.2e-05`.
std::string format_number(double number);
/// A fraction in whole percent: `3 %`.
std::string format_share(double share);

}  // namespace cohort::observe
