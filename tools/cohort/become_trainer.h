#pragma once

#include "base/result.h"
#include "exit_code.h"
#include "session.h"

#include <string>
#include <vector>

namespace cohort::tool {

/// Replaces this process by the trainer program, which loads libtorch: input, output, signals and the exit
/// code are those of the trainer. For commands that need one process and no ranks.
///
/// Failure: the trainer cannot be started. On success it does not return.
Result<ExitCode> become_trainer(const Session& session, const std::vector<std::string>& arguments);

/// Appends an option of the trainer with its value, which may be empty or begin with a dash.
void add_option_words(std::vector<std::string>& arguments, const std::string& option,
                      const std::string& value);

}  // namespace cohort::tool
