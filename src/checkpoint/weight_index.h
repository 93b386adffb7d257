#pragma once

#include "checkpoint/manifest.h"

#include <string>
#include <string_view>

namespace cohort::checkpoint {

/// The file that tells readers of Hugging Face checkpoints which file has which weight.
inline constexpr std::string_view kIndexFile = "model.safetensors.index.json";

/// True for the parameters and buffers of the model, false for the state of an optimizer, `weight/exp_avg`.
bool is_of_model(std::string_view name);

/// True for averages and masks of a training, `weight/average`, and the numbers that belong to them.
bool is_of_post_steps(std::string_view name);

/// The content of the index file; empty if a tensor of the model is not stored whole and plain.
std::string weight_index(const Manifest& manifest);

}  // namespace cohort::checkpoint
