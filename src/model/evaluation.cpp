#include <ATen/ATen.h>
#include <cmath>
#include <cohort/error.h>
#include <cohort/evaluation.h>
#include <fmt/format.h>

namespace cohort {

void EvaluationSum::add(const Evaluation& part) {
  loss += part.loss.item<double>();
  weight += part.weight;
  correct += part.correct;
  counted += part.counted;
}

double EvaluationSum::mean_loss() const {
  if (std::isfinite(weight) && weight > 0) return loss / weight;
  throw UsageError(
      UsageError(fmt::format("the weights of the evaluation add up to {}, expected more than 0", weight))
          .with_remedy("Return the number of samples, or of tokens that count, as Evaluation::weight."));
}

std::optional<double> EvaluationSum::accuracy() const {
  if (counted > 0) return correct / counted;
  return std::nullopt;
}

}  // namespace cohort
