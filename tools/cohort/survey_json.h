#pragma once

#include "machine/survey.h"

#include <nlohmann/json.hpp>

namespace cohort::tool {

/// Every fact of a survey. One that could not be found out is `{"unknown": reason}`.
nlohmann::ordered_json to_json(const machine::Survey& survey);

}  // namespace cohort::tool
