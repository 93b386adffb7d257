#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace cohort::tool {

/// The pages of docs/reference/ that the tool writes itself: config, commands, exit-codes.
std::vector<std::string> reference_page_names();

/// One of them, in Markdown.
/// Failure: kUsage for an unknown name.
Result<std::string> reference_page(const std::string& name);

}  // namespace cohort::tool
