#include "base/result.h"
#include "records/vocabulary.h"
#include <cohort/predict.h>
#include <cohort/random.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace cohort {
namespace {

constexpr std::uint64_t kSamplingStream = 0x73616d706c65;

void check_sampling(const LoadedModel& model, std::string_view prompt, const SamplingOptions& options) {
  if (model.facts.vocabulary.empty()) {
    throw UsageError(fmt::format("a model of kind '{}' does not continue text", model.facts.kind));
  }
  if (prompt.empty()) throw UsageError("the prompt is empty; the model continues at least one character");
  if (options.tokens < 0) throw UsageError(fmt::format("{} tokens cannot be drawn", options.tokens));
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature)) {
    throw UsageError(fmt::format("the temperature is {}; it must be 0 or more", options.temperature));
  }
  if (options.top_k && *options.top_k < 1) {
    throw UsageError(fmt::format("top_k is {}; it must be at least 1", *options.top_k));
  }
}

// The logits of the token that follows; the model sees as many tokens as its context has.
std::vector<double> next_logits(const LoadedModel& model, const std::vector<records::Token>& tokens) {
  const std::size_t context = static_cast<std::size_t>(std::max<std::int64_t>(model.facts.context, 1));
  const std::size_t seen = std::min(tokens.size(), context);
  std::vector<std::int64_t> last(tokens.end() - static_cast<std::ptrdiff_t>(seen), tokens.end());
  const at::Tensor input = at::tensor(last, at::kLong).unsqueeze(0);
  const at::Tensor output = model.module->forward(input);
  const at::Tensor logits = output.select(0, 0).select(0, -1).to(at::kDouble).contiguous();
  const auto* first = logits.const_data_ptr<double>();
  return {first, first + logits.numel()};
}

// Tokens in the order of their logits, the largest first; equal ones in the order of the vocabulary.
std::vector<std::size_t> by_logit(const std::vector<double>& logits) {
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  return order;
}

records::Token draw(const std::vector<double>& logits, const SamplingOptions& options, double chance) {
  std::vector<std::size_t> order = by_logit(logits);
  if (options.temperature == 0) return static_cast<records::Token>(order.front());
  if (options.top_k) order.resize(std::min(order.size(), static_cast<std::size_t>(*options.top_k)));
  std::vector<double> weights;
  for (const std::size_t token : order) {
    weights.push_back(std::exp((logits[token] - logits[order.front()]) / options.temperature));
  }
  double left = chance * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    left -= weights[i];
    if (left < 0) return static_cast<records::Token>(order[i]);
  }
  return static_cast<records::Token>(order.back());
}

}  // namespace

std::string generate(const LoadedModel& model, std::string_view prompt, const SamplingOptions& options) {
  check_sampling(model, prompt, options);
  const auto kind = model.facts.tokens == "byte" ? records::TokenKind::kByte : records::TokenKind::kChar;
  const records::Vocabulary vocabulary(kind, model.facts.vocabulary);
  std::vector<records::Token> tokens = value_or_throw(vocabulary.encode(prompt));
  const std::size_t given = tokens.size();
  const RandomStream chances(options.seed, kSamplingStream);
  const at::NoGradGuard no_grad;
  for (std::int64_t i = 0; i < options.tokens; ++i) {
    tokens.push_back(
        draw(next_logits(model, tokens), options, chances.uniform(static_cast<std::uint64_t>(i))));
  }
  return vocabulary.decode({tokens.begin() + static_cast<std::ptrdiff_t>(given), tokens.end()});
}

}  // namespace cohort
