#pragma once

#include "config/key.h"

#include <span>
#include <string>

namespace cohort::config {

/// Everything about one key, a line each.
std::string explain(const Key& key);

/// docs/reference/config.md.
std::string reference_page(std::span<const Key> keys);

}  // namespace cohort::config
