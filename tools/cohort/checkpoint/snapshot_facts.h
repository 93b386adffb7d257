#pragma once

#include "checkpoint/manifest.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace cohort::tool {

/// The facts of a manifest for people, by name: everything but tensors, files and the text of the job.
std::vector<std::pair<std::string, std::string>> facts_of(const checkpoint::Manifest& manifest);

/// The same facts, and the text of the job, as JSON.
nlohmann::ordered_json facts_json(const checkpoint::Manifest& manifest);

/// `full`, or `difference of step-000000000500`.
std::string kind_text(const checkpoint::Manifest& manifest);

/// `2026-11-19 02:44 UTC`, or `-`.
std::string date_text(std::optional<std::int64_t> seconds);

/// `12 files`, `1 file`.
std::string counted(std::uint64_t count, const std::string& word);

/// `f32 [4, 6]`.
std::string type_text(DType dtype, const Shape& shape);

/// A number, or `-`.
std::string number_text(std::optional<double> number);
/// A number, or null if it is none or not finite.
nlohmann::ordered_json number_json(std::optional<double> number);

}  // namespace cohort::tool
