#include "train/torch_optimizer.h"

#include "base/checksum.h"
#include "train/optimizer_state.h"
#include "train/torch_momentum.h"
#include <cohort/error.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <sstream>
#include <torch/optim/lbfgs.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize.h>

namespace cohort::train {
namespace {

void check_parameters(const torch::optim::Optimizer& optimizer, const ModuleTensors& tensors) {
  std::size_t number = 0;
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      ++number;
      const auto is_it = [&](const NamedTensor& named) { return named.tensor.is_same(parameter); };
      if (std::any_of(tensors.parameters.begin(), tensors.parameters.end(), is_it)) continue;
      if (std::any_of(tensors.frozen.begin(), tensors.frozen.end(), is_it)) continue;
      throw UsageError(
          UsageError(fmt::format("parameter {} of the optimizer is not a parameter of the module", number))
              .with_remedy(
                  "Make the optimizer from module->parameters(), after the last change of the module."));
    }
  }
  if (number == 0) throw UsageError("the optimizer has no parameters");
}

template <class Write>
std::uint64_t hash_of_saved(const Write& write, std::uint64_t seed) {
  torch::serialize::OutputArchive archive;
  write(archive);
  std::ostringstream out;
  archive.save_to(out);
  const std::string text = std::move(out).str();
  return content_hash(std::as_bytes(std::span(text)), seed);
}

}  // namespace

TorchOptimizer::TorchOptimizer(torch::optim::Optimizer& optimizer, const ModuleTensors& tensors)
    : optimizer_(optimizer) {
  if (dynamic_cast<torch::optim::LBFGS*>(&optimizer) != nullptr) {
    throw UsageError(
        UsageError("torch::optim::LBFGS evaluates the loss several times in a step, which a Trainer "
                   "cannot do")
            .with_remedy("Set TrainerOptions::solver instead: SolverKind::kLbfgs has its settings."));
  }
  check_parameters(optimizer, tensors);
  for (const auto& group : optimizer_.param_groups()) {
    first_rates_.push_back(group.options().get_lr());
    first_momentums_.push_back(torch_momentum(group.options()));
  }
}

TorchOptimizer::~TorchOptimizer() {
  auto& groups = optimizer_.param_groups();
  for (std::size_t g = 0; g < groups.size() && g < first_rates_.size(); ++g) {
    groups[g].options().set_lr(first_rates_[g]);
    if (first_momentums_[g]) set_torch_momentum(groups[g].options(), *first_momentums_[g]);
  }
}

double TorchOptimizer::set_learning_rates(const std::function<double(double)>& scheduled) {
  auto& groups = optimizer_.param_groups();
  for (std::size_t g = 0; g < groups.size() && g < first_rates_.size(); ++g) {
    groups[g].options().set_lr(scheduled(first_rates_[g]));
  }
  return groups.front().options().get_lr();
}

void TorchOptimizer::set_momentum(double momentum) {
  for (auto& group : optimizer_.param_groups()) set_torch_momentum(group.options(), momentum);
}

void TorchOptimizer::check_momentum() const {
  for (const auto& group : optimizer_.param_groups()) {
    if (torch_momentum(group.options())) continue;
    throw UsageError(
        UsageError(
            "learning_rate::OneCycle::cycle_momentum is set, but the optimizer has no momentum and no betas")
            .with_remedy("Set cycle_momentum to false."));
  }
}

void TorchOptimizer::step(const BucketSet& buckets, const std::vector<bool>& used, const StepTerms& terms) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor>& parameters = buckets.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    parameters[p].mutable_grad() = at::Tensor();
    if (!used[p]) continue;
    at::Tensor gradient = buckets.gradient(p).mul_(terms.gradient_scale);
    if (terms.clip_value > 0) gradient.clamp_(-terms.clip_value, terms.clip_value);
    parameters[p].mutable_grad() = gradient.to(parameters[p].scalar_type());
  }
  optimizer_.step();
  for (const at::Tensor& parameter : parameters) parameter.mutable_grad() = at::Tensor();
}

void TorchOptimizer::visit(const ModuleTensors& tensors, const StateVisitor& visitor) {
  visit_optimizer(optimizer_, tensors, visitor);
}

// Not of the whole optimizer as torch saves it: that text has addresses of tensors, which differ by rank.
std::uint64_t TorchOptimizer::hash() const {
  std::uint64_t hash = 0;
  for (const auto& group : optimizer_.param_groups()) {
    hash = hash_of_saved([&](auto& archive) { group.options().serialize(archive); }, hash);
    for (const at::Tensor& parameter : group.params()) {
      const auto state = optimizer_.state().find(parameter.unsafeGetTensorImpl());
      if (state == optimizer_.state().end()) continue;
      hash = hash_of_saved([&](auto& archive) { state->second->serialize(archive); }, hash);
    }
  }
  return hash;
}

}  // namespace cohort::train
