#include "data/unit_circle.h"

#include <cmath>

namespace cohort::data {

CirclePoint unit_circle(double turns) {
  const double part = turns - std::floor(turns);
  const double quarter = std::floor(part * 4 + 0.5);
  const double angle = (part - quarter / 4) * 6.283185307179586;  // within an eighth of a turn of an axis
  const double square = angle * angle;
  double cosine = 1, sine = 1;
  for (int term = 18; term >= 2; term -= 2) {
    cosine = 1 - cosine * square / ((term - 1) * term);
    sine = 1 - sine * square / (term * (term + 1));
  }
  sine *= angle;
  switch (static_cast<int>(quarter) % 4) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

}  // namespace cohort::data
