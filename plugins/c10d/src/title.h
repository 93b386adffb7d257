#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace cohort::c10d_plugin {

/// What a profiler shows of a work: `cohort:all_reduce`. Lifetime: until the process ends.
const char* title_of(const std::string& backend, ::c10d::OpType type);

}  // namespace cohort::c10d_plugin
