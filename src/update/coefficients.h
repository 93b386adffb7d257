#pragma once

#include "update/rule.h"

namespace cohort::update {

/// The numbers of one update as the loops take them: worked out in double, rounded once.
struct Coefficients {
  float scale = 1;          ///< of the gradient
  float limit = 0;          ///< of its size; infinite for none
  float decay = 0;          ///< of the parameter, added to the gradient
  float shrink = 1;         ///< of the parameter before the update
  float momentum = 0;       ///< of the first moment
  float first_new = 0;      ///< of the gradient in the first moment
  float second_old = 0;     ///< of the second moment
  float second_new = 0;     ///< of the squared gradient in it
  float second_factor = 1;  ///< of the second moment's root
  float epsilon = 0;
  float rate = 0;  ///< of what is taken off the parameter
};

Coefficients coefficients(const Rule& rule, const UpdateStep& step);

}  // namespace cohort::update
