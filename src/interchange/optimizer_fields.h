#pragma once

#include "base/result.h"
#include "interchange/pickle/value.h"

namespace cohort::interchange {

/// kCorrupt: the state of the optimizer is malformed.
Error bad_optimizer(const std::string& why);
/// The list under a key of a dictionary of an optimizer.
///
/// Failure: kCorrupt if there is none.
Result<const List*> list_in(const Dict& dict, std::string_view key);

}  // namespace cohort::interchange
