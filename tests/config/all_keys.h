#pragma once

#include "config/keys.h"

#include <vector>

namespace cohort::config {

inline const std::vector<Key> kKeys = make_keys();

}  // namespace cohort::config
