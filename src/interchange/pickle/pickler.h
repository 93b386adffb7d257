#pragma once

#include "base/result.h"
#include "interchange/pickle/graph.h"

#include <span>

namespace cohort::interchange {

/// A tree as a pickle of protocol 2, as torch.save() writes it and torch.load(weights_only=True) reads it.
/// `storages` are those that tensors of the tree refer to.
///
/// Failure: kUnsupported for objects, which Python would have to know.
Result<std::string> pickled(const Value& value, std::span<const StorageKey> storages);

}  // namespace cohort::interchange
