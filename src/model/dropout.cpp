#include <cohort/dropout.h>

#include "base/result.h"
#include "model/dropout_mask.h"

#include <fmt/format.h>
#include <utility>

namespace cohort {
namespace {

[[noreturn]] void refuse_rows(const at::Tensor& input, std::size_t samples) {
  raise(Error(ErrorCode::kUsage,
              fmt::format("a Dropout was given an input of {} rows but the numbers of {} samples",
                          input.dim() == 0 ? 0 : input.size(0), samples))
            .with_remedy("Call cohort::set_step with the numbers of the batch's samples before each forward; "
                         "the first dimension of the input must count samples."));
}

}  // namespace

DropoutImpl::DropoutImpl(double rate) : rate_(rate) {
  if (!(rate >= 0 && rate < 1)) {
    raise(Error(ErrorCode::kUsage, fmt::format("a dropout rate of {} is not possible", rate))
              .with_remedy("Give a rate of at least 0 and below 1."));
  }
}

void DropoutImpl::set(std::uint64_t key, std::shared_ptr<const std::vector<std::int64_t>> samples) {
  key_ = key;
  samples_ = std::move(samples);
}

at::Tensor DropoutImpl::forward(const at::Tensor& input) {
  if (rate_ == 0 || !is_training()) return input;
  const std::size_t samples = samples_ ? samples_->size() : 0;
  if (!samples_ || input.dim() == 0 || std::cmp_not_equal(input.size(0), samples)) {
    refuse_rows(input, samples);
  }
  return model::masked(input, {.key = key_, .rate = rate_, .samples = samples_});
}

void DropoutImpl::pretty_print(std::ostream& stream) const {
  stream << "cohort::Dropout(rate=" << rate_ << ")";
}

void set_step(torch::nn::Module& module, const DropoutStep& step) {
  const auto samples =
      std::make_shared<const std::vector<std::int64_t>>(step.samples.begin(), step.samples.end());
  std::uint64_t layer = 0;
  const auto tell = [&](torch::nn::Module& part) {
    auto* dropout = dynamic_cast<DropoutImpl*>(&part);
    if (dropout) dropout->set(model::dropout_key(step.seed, step.step, layer++), samples);
  };
  tell(module);
  for (const auto& part : module.modules(/*include_self=*/false)) tell(*part);
}

}  // namespace cohort
