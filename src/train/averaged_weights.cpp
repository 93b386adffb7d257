#include "train/averaged_weights.h"

#include "base/check.h"
#include "layout/slice.h"
#include "state/move.h"
#include "state/peer_source.h"
#include "train/tensor_pieces.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace cohort::train {
namespace {

// Ranks exchange vectors in the order of memory, which may be channels last.
std::vector<at::Tensor> gathered_averages(Communicator& group, const ShardedUpdate& update,
                                          const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> averages;
  std::vector<Piece> targets;
  for (const at::Tensor& parameter : parameters) {
    const auto options = at::TensorOptions().dtype(at::kFloat);
    const at::Tensor average = at::empty_like(parameter.detach(), options);
    Piece target = whole_piece(fmt::format("{}/average", averages.size()), average);
    target.order = {};
    target.shape = {static_cast<std::size_t>(average.numel())};
    target.mine = whole(target.shape);
    targets.push_back(std::move(target));
    averages.push_back(average);
  }
  const auto source = value_or_throw(state::PeerSource::open(group, update.average_pieces()));
  value_or_throw(state::move(targets, *source).within("the averages were not gathered"));
  return averages;
}

}  // namespace

AveragedWeights::AveragedWeights(Communicator& group, const ShardedUpdate& update,
                                 const ModuleTensors& tensors)
    : parameters_(plain(tensors.parameters)) {
  COHORT_CHECK_GT(update.post_steps().num_averages(), 0);
  const std::vector<at::Tensor> averages = gathered_averages(group, update, parameters_);
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : parameters_) own_.push_back(parameter.detach());
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    parameters_[p].set_data(averages[p].to(parameters_[p].scalar_type()));
  }
}

AveragedWeights::~AveragedWeights() {
  for (std::size_t p = 0; p < parameters_.size(); ++p) parameters_[p].set_data(own_[p]);
}

}  // namespace cohort::train
