#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Steps after each update of the parameters: an average of them, and elements that stay zero.

namespace cohort {

enum class AverageKind {
  kNone,
  kEma,  ///< the exponential moving average: a += (1-d)(p-a), as AveragedModel with get_ema_multi_avg_fn(d)
  kSwa,  ///< the mean with equal weights: a += (p-a)/(n+1), as AveragedModel by default
};

/// An average a of the parameters p, beside them, as torch.optim.swa_utils.AveragedModel. Updates are counted
/// from 1; steps that are skipped are none. The first average is a copy of the parameters. Frozen parameters
/// and buffers are not averaged: they are those of the model.
struct AverageOptions {
  AverageKind kind = AverageKind::kNone;
  double decay = 0.999;  ///< d; only for kEma
  /// Lowers d to (1+n)/(10+n) while that is less, where n is the number of averages so far. Only for kEma.
  bool warmup = false;
  std::int64_t start =
      0;  ///< the update after which the first average is made; 0: the first that `every` names
  std::int64_t every = 1;  ///< updates from one average to the next
  /// Evaluates with the averages in place of the parameters, and keeps the best of these models.
  bool evaluate = false;
  /// Computes the statistics of batch normalisation anew, in a pass over the training data, wherever the
  /// averages are used, as torch.optim.swa_utils.update_bn does.
  bool update_bn = false;

  bool operator==(const AverageOptions&) const = default;
};

/// Elements of parameters that are zero and stay zero, as torch.nn.utils.prune makes them.
struct MaskOptions {
  /// The part of the elements of each parameter that becomes zero before the first step: those with the
  /// smallest magnitudes. From 0 to below 1.
  std::optional<double> sparsity{};
  /// The names of the parameters for `sparsity`; `*` matches any number of characters, `?` exactly one.
  /// Empty: those of two dimensions or more.
  std::vector<std::string> parameters{};
  /// A safetensors file with masks of zeros and ones, under the names of their parameters, in place of
  /// `sparsity`. Rank 0 reads it. Empty: none.
  std::string file{};

  bool operator==(const MaskOptions&) const = default;
};

}  // namespace cohort
