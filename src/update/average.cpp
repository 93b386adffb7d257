#include "update/average.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace cohort::update {
namespace {

Error bad_average(std::string_view member, double value, std::string remedy) {
  return Error(ErrorCode::kUsage, fmt::format("TrainerOptions::average.{} is {}", member, value))
      .with_remedy(std::move(remedy));
}

// Two forms with the same value: each has the smaller rounding for its shares, as in torch.lerp.
void step_from_average(const float* __restrict p, float* __restrict a, std::size_t count, float share) {
  for (std::size_t i = 0; i < count; ++i) a[i] += share * (p[i] - a[i]);
}

void step_from_parameter(const float* __restrict p, float* __restrict a, std::size_t count, float rest) {
  for (std::size_t i = 0; i < count; ++i) a[i] = p[i] - rest * (p[i] - a[i]);
}

}  // namespace

Status check_average(const AverageOptions& options) {
  if (options.kind == AverageKind::kNone) {
    if (options == AverageOptions{}) return {};
    return Error(ErrorCode::kUsage,
                 "options of TrainerOptions::average are set, but its kind is AverageKind::kNone")
        .with_remedy("Set TrainerOptions::average.kind, or leave the others out.");
  }
  if (!(options.decay >= 0 && options.decay < 1)) {
    return bad_average("decay", options.decay, "Give a number from 0 to below 1.");
  }
  if (options.start < 0) {
    return bad_average("start", static_cast<double>(options.start), "Give a number of at least 0.");
  }
  if (options.every < 1) {
    return bad_average("every", static_cast<double>(options.every), "Give a number of at least 1.");
  }
  const bool is_swa = options.kind == AverageKind::kSwa;
  if (is_swa && (options.warmup || options.decay != AverageOptions{}.decay)) {
    return Error(ErrorCode::kUsage,
                 fmt::format("TrainerOptions::average.{} is set, but AverageKind::kSwa has no decay",
                             options.warmup ? "warmup" : "decay"))
        .with_remedy("Leave it out, or set TrainerOptions::average.kind to AverageKind::kEma.");
  }
  return {};
}

bool is_average_due(const AverageOptions& options, std::int64_t update) {
  if (options.kind == AverageKind::kNone) return false;
  return update >= options.start && (update - options.start) % options.every == 0;
}

double average_share(const AverageOptions& options, std::int64_t num_averages) {
  const auto n = static_cast<double>(num_averages);
  if (num_averages == 0) return 1;
  if (options.kind == AverageKind::kSwa) return 1 / (n + 1);
  const double decay = options.warmup ? std::min(options.decay, (1 + n) / (10 + n)) : options.decay;
  return 1 - decay;
}

void add_to_average(const float* parameters, float* averages, std::size_t count, double share) {
  if (share == 1) {
    if (count > 0) std::memcpy(averages, parameters, count * sizeof(float));
  } else if (share < 0.5) {
    step_from_average(parameters, averages, count, static_cast<float>(share));
  } else {
    step_from_parameter(parameters, averages, count, static_cast<float>(1 - share));
  }
}

}  // namespace cohort::update
