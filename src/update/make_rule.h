#pragma once

#include "base/result.h"
#include "config/config.h"
#include "update/rule.h"

namespace cohort {

/// The rule that a job file asks for. Settings the rule has no use for are not looked at.
///
/// Failure: kUsage, naming the key.
Result<Rule> make_rule(const UpdateConfig& config);

}  // namespace cohort
