#pragma once

#include "command_line.h"

#include <string>
#include <vector>

namespace cohort::tool {

/// What may follow: `words` are the arguments so far without the program's name, the last one (perhaps empty)
/// is the one being typed. Empty where a file name or free text belongs.
std::vector<std::string> completions(const CommandLine& command_line, const std::vector<std::string>& words);

/// The script that makes a shell ask `cohort complete`.
/// Failure: kUsage for a shell there is no script for.
Result<std::string> completion_script(const std::string& shell);

}  // namespace cohort::tool
