#include "model/gpt.h"

#include "base/result.h"

#include <ATen/ATen.h>
#include <cmath>
#include <fmt/format.h>
#include <torch/nn/modules/container/modulelist.h>

namespace cohort::model {
namespace {

constexpr double kDeviation = 0.02;

double branch_end_deviation(const GptOptions& options) {
  return kDeviation / std::sqrt(2.0 * static_cast<double>(options.layers));
}

/// An embedding table, registered as "weight".
class Embedding : public torch::nn::Module {
 public:
  explicit Embedding(at::Tensor weight) { weight_ = register_parameter("weight", std::move(weight)); }
  const at::Tensor& weight() const { return weight_; }

 private:
  at::Tensor weight_;
};

}  // namespace

Attention::Attention(Initializer& initializer, const GptOptions& options) : heads_(options.heads) {
  const std::int64_t width = options.width;
  qkv_ = register_module("qkv", normal_linear(initializer, width, 3 * width, kDeviation));
  output_ =
      register_module("output", normal_linear(initializer, width, width, branch_end_deviation(options)));
}

at::Tensor Attention::forward(const at::Tensor& input) {
  const std::int64_t samples = input.size(0), tokens = input.size(1), width = input.size(2);
  const at::Tensor qkv =
      qkv_->forward(input).view({samples, tokens, 3, heads_, width / heads_}).permute({2, 0, 3, 1, 4});
  const at::Tensor x = at::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], /*attn_mask=*/{},
                                                        /*dropout_p=*/0.0, /*is_causal=*/true);
  return output_->forward(x.transpose(1, 2).reshape({samples, tokens, width}));
}

FeedForward::FeedForward(Initializer& initializer, const GptOptions& options) {
  const std::int64_t width = options.width;
  expand_ = register_module("expand", normal_linear(initializer, width, 4 * width, kDeviation));
  contract_ = register_module("contract",
                              normal_linear(initializer, 4 * width, width, branch_end_deviation(options)));
}

at::Tensor FeedForward::forward(const at::Tensor& input) {
  return contract_->forward(at::gelu(expand_->forward(input)));
}

GptBlock::GptBlock(Initializer& initializer, const GptOptions& options) {
  attention_norm_ = register_module("attention_norm", std::make_shared<LayerNorm>(options.width));
  attention_ = register_module("attention", std::make_shared<Attention>(initializer, options));
  attention_dropout_ = register_module("attention_dropout", Dropout(options.dropout));
  mlp_norm_ = register_module("mlp_norm", std::make_shared<LayerNorm>(options.width));
  mlp_ = register_module("mlp", std::make_shared<FeedForward>(initializer, options));
  mlp_dropout_ = register_module("mlp_dropout", Dropout(options.dropout));
}

at::Tensor GptBlock::forward(const at::Tensor& input) {
  // Adds in place to the output of the branch, which backward does not need.
  const at::Tensor x =
      attention_dropout_->forward(attention_->forward(attention_norm_->forward(input))).add_(input);
  return mlp_dropout_->forward(mlp_->forward(mlp_norm_->forward(x))).add_(x);
}

Gpt::Gpt(Initializer& initializer, const GptOptions& options) {
  const auto embedding = [&](const char* name, std::int64_t rows) {
    auto table = std::make_shared<Embedding>(initializer.normal({rows, options.width}, kDeviation));
    return register_module(name, table)->weight();
  };
  tokens_ = embedding("tokens", options.vocabulary);
  positions_ = embedding("positions", options.context);
  dropout_ = register_module("dropout", Dropout(options.dropout));
  auto blocks = register_module("blocks", std::make_shared<torch::nn::ModuleListImpl>());
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks_.push_back(std::make_shared<GptBlock>(initializer, options));
    blocks->push_back(blocks_.back());
  }
  norm_ = register_module("norm", std::make_shared<LayerNorm>(options.width));
}

at::Tensor Gpt::forward(const at::Tensor& input) {
  const std::int64_t length = input.size(1);
  if (length > positions_.size(0)) {
    raise(Error(ErrorCode::kUsage,
                fmt::format("{} tokens are more than the model's {} positions", length, positions_.size(0)))
              .with_remedy("Shorten the rows of tokens, or train with a longer data.context."));
  }
  at::Tensor x = at::embedding(tokens_, input.to(at::kLong)) + positions_.narrow(0, 0, length);
  x = dropout_->forward(x);
  for (const auto& block : blocks_) x = block->forward(x);
  return at::linear(norm_->forward(x), tokens_);
}

}  // namespace cohort::model
