#pragma once

#include <map>
#include <optional>
#include <string>

namespace cohort::tool {

/// The text of bench/peers/gloo_peer.py. The tool contains the peers that are scripts, so that they work from
/// a build folder and from an installation.
std::string gloo_script();
/// The text of bench/peers/dcp_peer.py.
std::string dcp_script();
/// The text of bench/peers/torch_optimizer.py.
std::string torch_optimizer_script();
/// bench/peers/torch_step.py and the modules that it imports, by file name.
std::map<std::string, std::string> torch_step_scripts();

/// The Python that runs the scripts: the one given, else that of the project's virtual environment at build
/// time, else the one in PATH.
std::string peer_python(const std::optional<std::string>& required);

/// The remedy for a peer that cannot be started.
extern const char* const kPeerSetUp;

}  // namespace cohort::tool
