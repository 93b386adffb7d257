#pragma once

#include "session.h"

#include <string>

namespace cohort::tool {

/// The program that a rank is: beside the tool, unless COHORT_TRAINER names another, as tests and own builds
/// do.
std::string trainer_program(const Session& session);

/// What to do where it cannot be started.
inline constexpr const char* kTrainerRemedy =
    "It is built and installed beside the tool; COHORT_TRAINER in the environment names another.";

}  // namespace cohort::tool
