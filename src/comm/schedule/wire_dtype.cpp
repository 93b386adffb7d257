#include "comm/schedule/wire_dtype.h"

namespace cohort::comm {

DType travelling_dtype(WireDType wire, DType kept) {
  switch (wire) {
    case WireDType::kSame:
      return kept;
    case WireDType::kBFloat16:
      return DType::kBF16;
    case WireDType::kFloat16:
      return DType::kF16;
  }
  return kept;
}

}  // namespace cohort::comm
