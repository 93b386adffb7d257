#include "base/check.h"

namespace cohort::base {

void check_failed(const char* condition, const std::string& values, const std::string& details,
                  SourcePlace place) {
  throw BugError(fmt::format("check failed: {}{}{}", condition, values, details), place);
}

}  // namespace cohort::base
