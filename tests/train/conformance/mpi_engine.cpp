// Training over the MPI that started this process.

#include "train/conformance/training.h"

namespace cohort::test {

COHORT_FOR_ALL_KINDS(Training);

}  // namespace cohort::test
