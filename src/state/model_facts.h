#pragma once

#include "base/result.h"
#include <cohort/model_facts.h>

#include <map>
#include <string>

namespace cohort::state {

/// The metadata of a safetensors file that has these facts: JSON texts under the keys of docs/models.md, and
/// `others` as they are.
///
/// Failure: kUsage for facts that contradict each other, a text that is not UTF-8, or a key of `others` that
/// begins with `cohort.`.
Result<std::map<std::string, std::string>> metadata_of(const ModelFacts& facts);

/// The facts in the metadata of a file.
///
/// Failure: kUsage if there are none; kUnsupported for a later version of the format; kCorrupt, naming the
/// key, for a text that is not of the documented form.
Result<ModelFacts> facts_in(const std::map<std::string, std::string>& metadata);

}  // namespace cohort::state
