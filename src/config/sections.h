#pragma once

#include "config/key.h"

#include <vector>

namespace cohort::config {

// The rows of each section. make_keys() joins them.
std::vector<Key> log_keys();
std::vector<Key> launch_keys();
std::vector<Key> communication_keys();
std::vector<Key> doctor_keys();
std::vector<Key> data_keys();
std::vector<Key> model_keys();
std::vector<Key> optimizer_keys();
std::vector<Key> solver_keys();  // of [optimizer], too
std::vector<Key> schedule_keys();
std::vector<Key> precision_keys();
std::vector<Key> average_keys();
std::vector<Key> mask_keys();
std::vector<Key> train_keys();
std::vector<Key> checkpoint_keys();
std::vector<Key> trace_keys();

}  // namespace cohort::config

// A Field of a member of Config.
#define COHORT_FIELD(member)       \
  {                                \
    [](Config & config) -> auto& { \
      return config.member;        \
    }                              \
  }
