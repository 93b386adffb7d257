#pragma once

#include "config/config.h"
#include "data/open.h"
#include "model/model.h"
#include <cohort/model_facts.h>

namespace cohort {

/// The facts about a model of a job that its file carries for its users.
ModelFacts facts_of(const ModelConfig& config, const OpenedData& data);

/// The model that such facts describe, with random parameters.
///
/// Failure: kUsage if `kind` is no kind of make_model(), or a setting is not one of section [model].
Result<std::shared_ptr<Model>> make_model(const ModelFacts& facts);

}  // namespace cohort
