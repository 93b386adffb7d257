#include "train/torch_momentum.h"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>
#include <tuple>

namespace cohort::train {
namespace {

// The momentum in options of one of these types, or null. torch has no tag for the type of options.
template <class Options>
double* momentum_in(torch::optim::OptimizerOptions& options) {
  auto* const known = dynamic_cast<Options*>(&options);  // NOLINT
  if (known == nullptr) return nullptr;
  if constexpr (requires { known->betas(); }) {
    return &std::get<0>(known->betas());
  } else {
    return &known->momentum();
  }
}

double* momentum_of_any(torch::optim::OptimizerOptions& options) {
  using namespace torch::optim;  // NOLINT: four kinds
  for (double* const found : {momentum_in<SGDOptions>(options), momentum_in<AdamOptions>(options),
                              momentum_in<AdamWOptions>(options), momentum_in<RMSpropOptions>(options)}) {
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace

std::optional<double> torch_momentum(const torch::optim::OptimizerOptions& options) {
  const double* const found = momentum_of_any(const_cast<torch::optim::OptimizerOptions&>(options));
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

void set_torch_momentum(torch::optim::OptimizerOptions& options, double momentum) {
  if (double* const found = momentum_of_any(options)) *found = momentum;
}

}  // namespace cohort::train
