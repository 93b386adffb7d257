#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace cohort::observe {

/// An object as every `--json` prints it. Bytes that are not UTF-8 (in file names, say) are replaced.
inline std::string json_text(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace cohort::observe
