#pragma once

#include "measure/statistics.h"
#include "session.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

/// The contenders of `cohort bench optimizers`. The name of a contender is that of its group.
inline constexpr const char* kOurUpdate = "ours";
inline constexpr const char* kBareMemory = "memory";
inline constexpr const char* kTorchFused = "torch_fused";
inline constexpr const char* kTorchForeach = "torch_foreach";
inline constexpr const char* kTorchLoop = "torch_loop";

/// The measured times of one optimizer. Contenders that do not have it are absent.
struct OptimizerRow {
  std::string name{};
  std::uint64_t bytes = 0;  ///< that one update moves at least
  std::map<std::string, measure::Summary> times{};

  /// Nanoseconds, the 10th percentile.
  std::optional<double> ours() const;
  std::optional<double> torch_fused() const;
  /// The faster of the two forms of torch.
  std::optional<double> torch_unfused() const;
  std::optional<double> memory() const;

 private:
  std::optional<double> time_of(const std::string& contender) const;
};

/// One object: `elements` and `rows`.
std::string optimizers_json(const std::vector<OptimizerRow>& rows, std::uint64_t elements);
std::string optimizers_table(const std::vector<OptimizerRow>& rows, const Session& session);

}  // namespace cohort::tool
