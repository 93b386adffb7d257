#pragma once

#include <string>

namespace cohort::tool {

/// bench/peers/gloo_peer.py: the tool carries it, so that it works from a build folder and from anywhere
/// else.
std::string gloo_script();

/// The project's own Python environment at the time of the build; it need not exist.
extern const char* const kBuildVenv;

}  // namespace cohort::tool
