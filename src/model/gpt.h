#pragma once

#include "model/layers.h"
#include "model/model.h"

#include <cohort/dropout.h>
#include <cstdint>
#include <memory>
#include <vector>

namespace cohort::model {

struct GptOptions {
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;  ///< the most tokens of a sample
  std::int64_t layers = 1;
  std::int64_t width = 0;  ///< a multiple of heads
  std::int64_t heads = 1;
  double dropout = 0;
};

/// Causal attention of several heads.
class Attention : public torch::nn::Module {
 public:
  Attention(Initializer& initializer, const GptOptions& options);
  at::Tensor forward(const at::Tensor& input);

 private:
  std::shared_ptr<Linear> qkv_, output_;
  std::int64_t heads_;
};

/// Two linear layers with GELU between them; the hidden layer is four times as wide.
class FeedForward : public torch::nn::Module {
 public:
  FeedForward(Initializer& initializer, const GptOptions& options);
  at::Tensor forward(const at::Tensor& input);

 private:
  std::shared_ptr<Linear> expand_, contract_;
};

/// x + attention(norm(x)), then x + feed_forward(norm(x)).
class GptBlock : public torch::nn::Module {
 public:
  GptBlock(Initializer& initializer, const GptOptions& options);
  at::Tensor forward(const at::Tensor& input);

 private:
  std::shared_ptr<LayerNorm> attention_norm_, mlp_norm_;
  std::shared_ptr<Attention> attention_;
  std::shared_ptr<FeedForward> mlp_;
  Dropout attention_dropout_{nullptr}, mlp_dropout_{nullptr};
};

/// A decoder of tokens: pre-norm, learned positions, token embeddings tied to the output layer. No layer has
/// a bias. Weights are normal with deviation 0.02; the deviation at the end of a residual branch is divided
/// by √(2 layers). Dropout applies to the embedding and to the end of every branch, not to attention weights,
/// because fused attention has no dropout of Cohort's streams.
class Gpt : public Model {
 public:
  Gpt(Initializer& initializer, const GptOptions& options);
  /// Maps samples × tokens to logits, samples × tokens × vocabulary.
  at::Tensor forward(const at::Tensor& input) override;

 private:
  at::Tensor tokens_, positions_;
  Dropout dropout_{nullptr};
  std::vector<std::shared_ptr<GptBlock>> blocks_;
  std::shared_ptr<LayerNorm> norm_;
};

}  // namespace cohort::model
