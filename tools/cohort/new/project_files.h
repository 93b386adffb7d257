#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cohort::tool {

/// The files of a new project: name and content. They are those of examples/my_project, with `name` in place
/// of its name and `prefix` as the folder where Cohort is installed.
std::vector<std::pair<std::string, std::string>> project_files(const std::string& name,
                                                               const std::string& prefix);

}  // namespace cohort::tool
