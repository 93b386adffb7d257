#pragma once

#include <span>
#include <vector>

// The arithmetic of batch normalisation per channel, on the sums of ChannelLoops. With n numbers per channel,
// mean μ and variance v = Σ(x - μ)²/n:
//
//     r = 1/√(v + ε)        y = γ(x - μ)r + β
//     ∂x = γr(g - Σg/n - (x - μ)r²·Σg(x - μ)/n)        ∂γ = Σg(x - μ)·r        ∂β = Σg

namespace cohort::normalise {

/// The numbers of a batch per channel: over all ranks, if their sums were added up.
struct Statistics {
  double count = 0;                ///< of numbers per channel
  std::vector<double> mean{};      ///< 0 without numbers
  std::vector<double> variance{};  ///< divided by count; 0 without numbers

  /// 1/√(variance + ε).
  std::vector<double> inverse_deviation(double eps) const;
};

/// From Σ(x - pivot) and Σ(x - pivot)². A variance that rounding made negative becomes 0.
Statistics statistics_of(double count, std::span<const double> moments, std::span<const double> pivot);

/// The layer's γ and β; empty: 1 and 0.
struct Scaling {
  std::vector<double> weight{};
  std::vector<double> bias{};
};

/// The factors of ChannelLoops::affine().
std::vector<double> output_factors(const Statistics& statistics, double eps, const Scaling& scaling);
/// The factors of ChannelLoops::gradient(), from Σg and Σg(x - μ) over all ranks.
std::vector<double> gradient_factors(const Statistics& statistics, double eps, const Scaling& scaling,
                                     std::span<const double> products);

}  // namespace cohort::normalise
