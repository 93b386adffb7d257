#include "config/key_reading.h"
#include "config/sections.h"
#include <cohort/precision.h>

#include <algorithm>
#include <fmt/format.h>

namespace cohort::config {
namespace {

constexpr int kMostScaledSteps = 1'000'000'000;
constexpr double kMostScale = 1e38;

bool is_f16(const Value& value) {
  const auto* word = std::get_if<std::string>(&value.data);
  return word != nullptr && (*word == "f16" || *word == "fp16" || *word == "float16");
}

// The reason why one value is refused is more than that it is not known.
Key without_f16(Key key, const char* reason, const char* remedy) {
  key.read = [read = key.read, reason, remedy](const Value& value, Config& config) -> Status {
    if (is_f16(value)) return Error(ErrorCode::kUsage, reason).with_remedy(remedy);
    return read(value, config);
  };
  return key;
}

Key compute_key() {
  std::vector<std::string> words;
  for (const ComputeType type : kAllComputeTypes) words.emplace_back(name(type));
  const auto set = [](Config& config, std::size_t index) {
    config.precision.compute = kAllComputeTypes[index];
  };
  const auto get = [](const Config& config) { return static_cast<std::size_t>(config.precision.compute); };
  return without_f16(
      choice("precision.compute", words, "f32", set, get,
             "The type in which products and convolutions are computed, by autocast, with f32 weights; auto: "
             "bf16 on a machine that has instructions for it, otherwise f32."),
      "is no type to compute in: CPUs compute f16 slower than f32, and its range is too small for gradients",
      "Use \"bf16\".");
}

Key parameters_key() {
  const auto set = [](Config& config, std::size_t index) {
    config.precision.parameters = index == 0 ? DType::kF32 : DType::kBF16;
  };
  const auto get = [](const Config& config) -> std::size_t {
    return config.precision.parameters == DType::kF32 ? 0 : 1;
  };
  return without_f16(
      choice(
          "precision.parameters", {"f32", "bf16"}, "f32", set, get,
          "The type of parameters with two dimensions or more; bf16, with which each rank keeps an f32 copy "
          "of the parameters that it updates, requires precision.compute = \"bf16\"."),
      "is no type for parameters: its range is too small", "Use \"bf16\".");
}

// The words are those of the other keys of the section: f32 travels as it is.
Key gradients_key() {
  const auto set = [](Config& config, std::size_t index) {
    config.communication.wire = kAllWireDTypes[index];
  };
  const auto get = [](const Config& config) { return static_cast<std::size_t>(config.communication.wire); };
  return choice(
      "precision.gradients", {"f32", "bf16", "f16"}, "f32", set, get,
      "The type in which gradients, and other f32 numbers of reductions, travel between hosts; sums "
      "are computed in f32 in any case, and on one host nothing travels.");
}

// none, dynamic, or a number.
Key loss_scale_key() {
  const auto read = [](const Value& value, Config& config) -> Status {
    PrecisionConfig& precision = config.precision;
    if (const auto* word = std::get_if<std::string>(&value.data)) {
      if (*word != "none" && *word != "dynamic") return Error(ErrorCode::kUsage, "is not known");
      precision.loss_scaling = *word == "none" ? LossScaling::kNone : LossScaling::kDynamic;
      return {};
    }
    const auto* whole = std::get_if<std::int64_t>(&value.data);
    const auto* real = std::get_if<double>(&value.data);
    if (whole == nullptr && real == nullptr) return wrong_kind(value);
    const double scale = whole != nullptr ? static_cast<double>(*whole) : *real;
    if (!(scale > 0 && scale <= kMostScale)) return out_of_range();
    precision.loss_scaling = LossScaling::kStatic;
    precision.loss_scale = scale;
    return {};
  };
  const auto show = [](const Config& config) -> std::string {
    const PrecisionConfig& precision = config.precision;
    if (precision.loss_scaling == LossScaling::kStatic) return fmt::format("{}", precision.loss_scale);
    return quoted(precision.loss_scaling == LossScaling::kNone ? "none" : "dynamic");
  };
  return {.name = "precision.loss_scale",
          .type = "choice or number",
          .allowed = "one of none, dynamic, or a number above 0",
          .fallback = quoted("none"),
          .help =
              "The factor of the loss in backward, by which small gradients are kept from becoming 0; "
              "dynamic: a factor that grows until gradients overflow, and then falls.",
          .choices = {"none", "dynamic"},
          .read = read,
          .show = show,
          .example = "1024"};
}

std::vector<Key> dynamic_keys() {
  return {
      real_number("precision.initial_scale", COHORT_FIELD(precision.initial_scale), 65536.0,
                  {1e-30, kMostScale}, "The first factor of a dynamic loss scale."),
      real_number("precision.growth_factor", COHORT_FIELD(precision.growth_factor), 2.0, {1.000001, 1e6},
                  "What a dynamic loss scale is multiplied by after precision.growth_interval steps without "
                  "an overflow."),
      real_number("precision.backoff_factor", COHORT_FIELD(precision.backoff_factor), 0.5, {1e-6, 0.999999},
                  "What a dynamic loss scale is multiplied by after an overflow; the step is skipped."),
      whole_number("precision.growth_interval", COHORT_FIELD(precision.growth_interval), 2000,
                   {1, kMostScaledSteps},
                   "The steps without an overflow after which a dynamic loss scale grows."),
      whole_number("precision.hysteresis", COHORT_FIELD(precision.hysteresis), 1, {1, kMostScaledSteps},
                   "The overflow in a row from which on a dynamic loss scale falls; 1: the first."),
      real_number("precision.least_scale", COHORT_FIELD(precision.least_scale), 1.0, {0.0, kMostScale},
                  "A run ends with an error where a dynamic loss scale would fall below this."),
      whole_number("precision.fallback_steps", COHORT_FIELD(precision.fallback_steps), 0,
                   {0, kMostScaledSteps},
                   "The steps for which a stage whose values became infinite or NaN in bf16 computes in f32; "
                   "0: such a step ends the run."),
  };
}

}  // namespace

std::vector<Key> precision_keys() {
  std::vector<Key> keys = {compute_key(), parameters_key(), gradients_key(), loss_scale_key()};
  for (Key& key : dynamic_keys()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace cohort::config
