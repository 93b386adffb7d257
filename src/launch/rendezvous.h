#pragma once

#include "launch/environment.h"
#include "launch/variable_reader.h"

namespace cohort::launch {

/// Where the ranks of the launcher of `facts` find each other; see launch_facts().
Status read_rendezvous(const VariableReader& variables, uid_t user, LaunchFacts& facts);
/// How ranks of different hosts talk, and where the key of the job is.
Status read_links(const VariableReader& variables, LaunchFacts& facts);

}  // namespace cohort::launch
