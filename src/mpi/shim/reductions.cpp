#include "mpi/shim/handles.h"

namespace cohort::mpi::shim {
namespace {

// MPI_Op_create takes functions without a context, and operations must live as long as MPI: they are created
// once, when MPI starts, and never freed.
MPI_Op nan_min = MPI_OP_NULL;
MPI_Op nan_max = MPI_OP_NULL;

template <class Number, class IsBetter>
void combine(const void* from, void* into, int count, IsBetter is_better) {
  const auto* a = static_cast<const Number*>(from);
  auto* b = static_cast<Number*>(into);
  for (int i = 0; i < count; ++i) {
    const bool takes = is_better(a[i], b[i]) || a[i] != a[i];
    b[i] = takes && b[i] == b[i] ? a[i] : b[i];
  }
}

template <class IsBetter>
void combine_floats(void* from, void* into, const int* count, MPI_Datatype* type, IsBetter is_better) {
  if (*type == MPI_FLOAT) return combine<float>(from, into, *count, is_better);
  combine<double>(from, into, *count, is_better);
}

void combine_min(void* from, void* into, int* count, MPI_Datatype* type) {
  combine_floats(from, into, count, type, [](auto a, auto b) { return a < b; });
}
void combine_max(void* from, void* into, int* count, MPI_Datatype* type) {
  combine_floats(from, into, count, type, [](auto a, auto b) { return a > b; });
}

}  // namespace

int make_reductions() {
  const int code = MPI_Op_create(&combine_min, 1, &nan_min);
  return code != MPI_SUCCESS ? code : MPI_Op_create(&combine_max, 1, &nan_max);
}

MPI_Datatype datatype_of(CohortMpiType type) {
  switch (type) {
    case kCohortMpiF32:
      return MPI_FLOAT;
    case kCohortMpiF64:
      return MPI_DOUBLE;
    case kCohortMpiI8:
      return MPI_INT8_T;
    case kCohortMpiI16:
      return MPI_INT16_T;
    case kCohortMpiI32:
      return MPI_INT32_T;
    case kCohortMpiI64:
      return MPI_INT64_T;
    case kCohortMpiU8:
      return MPI_UINT8_T;
    case kCohortMpiWidth1:
      return MPI_BYTE;
    case kCohortMpiWidth2:
      return MPI_UINT16_T;
    case kCohortMpiWidth4:
      return MPI_UINT32_T;
    case kCohortMpiWidth8:
      return MPI_UINT64_T;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op reduction_of(CohortMpiReduction reduction, CohortMpiType type) {
  const bool is_float = type == kCohortMpiF32 || type == kCohortMpiF64;
  switch (reduction) {
    case kCohortMpiSum:
      return MPI_SUM;
    case kCohortMpiProduct:
      return MPI_PROD;
    case kCohortMpiMin:
      return is_float ? nan_min : MPI_MIN;
    case kCohortMpiMax:
      return is_float ? nan_max : MPI_MAX;
    case kCohortMpiAnd:
      return MPI_BAND;
    case kCohortMpiOr:
      return MPI_BOR;
    case kCohortMpiXor:
      return MPI_BXOR;
  }
  return MPI_OP_NULL;
}

}  // namespace cohort::mpi::shim
