#pragma once

#include "base/result.h"

namespace cohort::measure {

/// Keeps the calling thread, and those it starts, on one of the cores it may use: the one for this rank, in
/// order of numbers; they begin again when there are more ranks than cores.
Status pin_to_core_of(int rank);

}  // namespace cohort::measure
