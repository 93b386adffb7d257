#include "train/averaged_weights.h"

#include "base/check.h"
#include "state/move.h"
#include "state/peer_source.h"
#include "train/tensor_pieces.h"

#include <ATen/ATen.h>

namespace cohort::train {
namespace {

std::vector<at::Tensor> gathered_averages(Communicator& group, const ShardedUpdate& update,
                                          const std::vector<NamedTensor>& parameters) {
  std::vector<at::Tensor> averages;
  std::vector<Piece> targets;
  for (const NamedTensor& named : parameters) {
    const auto options = at::TensorOptions().dtype(at::kFloat);
    const at::Tensor& average = averages.emplace_back(at::empty_like(named.tensor.detach(), options));
    targets.push_back(whole_piece(named.name + "/average", average));
  }
  const auto source = value_or_throw(state::PeerSource::open(group, update.average_pieces(parameters)));
  value_or_throw(state::move(targets, *source).within("the averages were not gathered"));
  return averages;
}

}  // namespace

AveragedWeights::AveragedWeights(Communicator& group, const ShardedUpdate& update,
                                 const ModuleTensors& tensors)
    : parameters_(plain(tensors.parameters)) {
  COHORT_CHECK_GT(update.post_steps().num_averages(), 0);
  const std::vector<at::Tensor> averages = gathered_averages(group, update, tensors.parameters);
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
