#pragma once

#include "comm/conformance/kind.h"

namespace cohort::test {

/// Training on one kind of communicator. The cases are in training_test.cpp; programs that bring kinds
/// instantiate them.
class Training : public Conformance {};

}  // namespace cohort::test
