#pragma once

namespace cohort::data {

struct CirclePoint {
  double x = 1;
  double y = 0;
};

/// The point of the unit circle after `turns` turns from (1, 0): cosine and sine by IEEE additions and
/// products alone, so that no mathematical library can change its bits. Within 1e-15.
CirclePoint unit_circle(double turns);

}  // namespace cohort::data
