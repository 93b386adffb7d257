#pragma once

#include <cohort/dtype.h>
#include <cohort/wire_dtype.h>

namespace cohort::comm {

/// The type in which elements of type `kept` travel.
DType travelling_dtype(WireDType wire, DType kept);

}  // namespace cohort::comm
