#include "command.h"

namespace cohort::tool {

std::vector<std::string> Command::candidates(const std::string&) const {
  return {};
}

std::vector<std::string>* Command::program_words() {
  return nullptr;
}

}  // namespace cohort::tool
