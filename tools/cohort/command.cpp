#include "command.h"

namespace cohort::tool {

std::vector<std::string> Command::candidates(const std::string&) const {
  return {};
}

}  // namespace cohort::tool
