// The quantile function of the normal distribution by rational approximation: Wichura, "Algorithm AS 241",
// Applied Statistics 37 (1988). Three ranges, each a quotient of two polynomials of degree 7.

#include "base/normal.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace cohort::base {
namespace {

using Coefficients = std::array<double, 8>;

constexpr Coefficients kCentreTop = {
    3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
    4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr Coefficients kCentreBottom = {1.0,
                                        4.2313330701600911252e+1,
                                        6.8718700749205790830e+2,
                                        5.3941960214247511077e+3,
                                        2.1213794301586595867e+4,
                                        3.9307895800092710610e+4,
                                        2.8729085735721942674e+4,
                                        5.2264952788528545610e+3};
constexpr Coefficients kMiddleTop = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                     5.76949722146069140550e0,  3.64784832476320460504e0,
                                     1.27045825245236838258e0,  2.41780725177450611770e-1,
                                     2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr Coefficients kMiddleBottom = {1.0,
                                        2.05319162663775882187e0,
                                        1.67638483018380384940e0,
                                        6.89767334985100004550e-1,
                                        1.48103976427480074590e-1,
                                        1.51986665636164571966e-2,
                                        5.47593808499534494600e-4,
                                        1.05075007164441684324e-9};
constexpr Coefficients kTailTop = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                   1.78482653991729133580e0,  2.96560571828504891230e-1,
                                   2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr Coefficients kTailBottom = {1.0,
                                      5.99832206555887937690e-1,
                                      1.36929880922735805310e-1,
                                      1.48753612908506148525e-2,
                                      7.86869131145613259100e-4,
                                      1.84631831751005468180e-5,
                                      1.42151175831644588870e-7,
                                      2.04426310338993978564e-15};

double polynomial(const Coefficients& c, double x) {
  double sum = c[7];
  for (int i = 6; i >= 0; --i) sum = sum * x + c[static_cast<size_t>(i)];
  return sum;
}

}  // namespace

double portable_log(double x) {
  // x = m · 2^e with m in [√½, √2); log m = 2 · artanh((m - 1) / (m + 1)) by its series.
  constexpr double kLn2High = 0x1.62e42fee00000p-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double series = 0.0;
  for (int k = 23; k >= 3; k -= 2) series = z * (1.0 / k + series);
  const double log_m = 2.0 * s + 2.0 * s * series;
  return exponent * kLn2High + (log_m + exponent * kLn2Low);
}

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (q > -0.425 && q < 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentreTop, r) / polynomial(kCentreBottom, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1.0 - p));
  const double x = r <= 5.0 ? polynomial(kMiddleTop, r - 1.6) / polynomial(kMiddleBottom, r - 1.6)
                            : polynomial(kTailTop, r - 5.0) / polynomial(kTailBottom, r - 5.0);
  return q < 0 ? -x : x;
}

}  // namespace cohort::base
