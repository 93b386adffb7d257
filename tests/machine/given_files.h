#pragma once

#include "machine/sources.h"

#include <map>
#include <string>
#include <utility>

namespace cohort::machine {

/// A reader that has only the given files.
inline ReadText given_files(std::map<std::string, std::string> files) {
  return [files = std::move(files)](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return Error(ErrorCode::kNotFound, "there is no file '" + path + "'");
    return found->second;
  };
}

/// A program runner without any program.
inline RunProgram no_programs() {
  return [](const std::vector<std::string>& argv, std::chrono::nanoseconds) -> Result<ProgramOutput> {
    return Error(ErrorCode::kNotFound, "there is no program '" + argv.at(0) + "'");
  };
}

/// A program runner in which every program has the same output.
inline RunProgram programs_that_leave(ProgramOutput output) {
  return [output = std::move(output)](const std::vector<std::string>&,
                                      std::chrono::nanoseconds) -> Result<ProgramOutput> { return output; };
}

}  // namespace cohort::machine
