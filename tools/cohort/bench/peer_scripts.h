#pragma once

#include <map>
#include <optional>
#include <string>

namespace cohort::tool {

/// bench/peers/gloo_peer.py: the tool carries the peers that are scripts, so that it works from a build
/// folder and from anywhere else.
std::string gloo_script();
/// bench/peers/torch_step.py and what it imports, by file name.
std::map<std::string, std::string> torch_step_scripts();

/// The Python that runs them: the one asked for, else that of the project's own environment at the time of
/// the build, else what is found on the path.
std::string peer_python(const std::optional<std::string>& wished);

/// What to do where a peer cannot be started.
extern const char* const kPeerSetUp;

}  // namespace cohort::tool
