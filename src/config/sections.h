#pragma once

#include "config/key.h"

#include <vector>

namespace cohort::config {

// The table of keys, a section each. make_keys() puts them together.
std::vector<Key> log_keys();
std::vector<Key> launch_keys();
std::vector<Key> communication_keys();
std::vector<Key> doctor_keys();
std::vector<Key> data_keys();
std::vector<Key> model_keys();
std::vector<Key> update_keys();
std::vector<Key> train_keys();

}  // namespace cohort::config

// The address of a member, as a Field.
#define COHORT_FIELD(member)       \
  {                                \
    [](Config & config) -> auto& { \
      return config.member;        \
    }                              \
  }
