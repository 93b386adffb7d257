#include "train/evaluator.h"

#include "train/abort.h"
#include "train/evaluation_mode.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::train {

void check_is_one_number(const at::Tensor& loss) {
  if (loss.defined() && loss.numel() == 1) return;
  const std::string found = loss.defined()
                                ? fmt::format("a tensor of sizes [{}]", fmt::join(loss.sizes(), ", "))
                                : std::string("an undefined tensor");
  throw UsageError(UsageError(fmt::format("the objective returned {} as loss, expected one number", found))
                       .with_remedy("Return the sum of the losses of all samples, as loss.sum(); or wrap a "
                                    "function that returns their mean in cohort::mean_loss()."));
}

void check_weight(const Communicator& group, double weight, const std::string& of) {
  if (std::isfinite(weight) && weight > 0) return;
  const Error what =
      Error(ErrorCode::kUsage, fmt::format("the weights {} add up to {}, expected more than 0", of, weight))
          .with_remedy("Return the number of samples, or of tokens that count, as Evaluation::weight.");
  raise(group.rank() == 0 ? what : failure_of(group.global_rank(0), what));  // all ranks see the same
}

std::optional<EvaluationReport> evaluate(Communicator& group, torch::nn::Module& module,
                                         const Computation& computation, const Dataset& data,
                                         const EvaluationOptions& options) {
  const at::NoGradGuard no_grad;
  const EvaluationMode mode(module);
  const std::int64_t size = data.size();
  const std::int64_t num_batches = (size + options.batch - 1) / options.batch;
  constexpr std::size_t kNumbers = 4;  // loss, weight, right answers, answers
  std::vector<double> sums(static_cast<std::size_t>(num_batches) * kNumbers + 1, 0.0);
  double& num_stopped = sums.back();
  for (std::int64_t b = group.rank(); b < num_batches; b += group.size()) {
    if (options.wants_to_stop && options.wants_to_stop()) {
      num_stopped = 1;
      break;
    }
    const Evaluation part = computation(
        batch_of(data, b * options.batch, std::min(size, (b + 1) * options.batch)), options.compute);
    double* numbers = sums.data() + static_cast<std::size_t>(b) * kNumbers;
    check_is_one_number(part.loss);
    numbers[0] = part.loss.item<double>();
    numbers[1] = part.weight;
    numbers[2] = part.correct;
    numbers[3] = part.counted;
  }
  value_or_throw(
      group.run(all_reduce(std::span(sums))));  // one rank adds the numbers of a batch, the others add 0
  if (num_stopped > 0) return std::nullopt;
  EvaluationSum all;
  for (std::size_t i = 0; i + 1 < sums.size(); i += kNumbers) {
    all.loss += sums[i];
    all.weight += sums[i + 1];
    all.correct += sums[i + 2];
    all.counted += sums[i + 3];
  }
  if (size == 0) return EvaluationReport{};
  check_weight(group, all.weight, "of the evaluation");
  return EvaluationReport{.loss = all.mean_loss(), .accuracy = all.accuracy()};
}

}  // namespace cohort::train
