#include "trainer_program.h"

#include <filesystem>

namespace cohort::tool {

std::string trainer_program(const Session& session) {
  const auto named = session.environment.find("COHORT_TRAINER");
  if (named != session.environment.end() && !named->second.empty()) return named->second;
  return (std::filesystem::path(session.program).parent_path() / "cohort-trainer").string();
}

}  // namespace cohort::tool
