#pragma once

#include "config/keys.h"

namespace cohort::tool {

/// The text of `cohort config explain KEY`.
std::string explain(const config::Key& key);

/// The text of docs/reference/config.md.
std::string config_page(std::span<const config::Key> keys);

}  // namespace cohort::tool
