#include "job/make_optimizer.h"

#include "base/check.h"
#include "update/optimizer.h"

namespace cohort::job {
namespace {

OptimizerKind optimizer_of(std::string_view word) {
  const auto found = optimizer_named(word);
  COHORT_CHECK(found.has_value(), "optimizer.name = '{}'", word);
  return *found;
}

}  // namespace

OptimizerSettings make_optimizer(const OptimizerConfig& config) {
  OptimizerSettings settings = config;
  settings.kind = optimizer_of(config.name);
  return with_defaults(settings);
}

}  // namespace cohort::job
