#include "nn/batch_norm_function.h"

#include "normalise/batch_statistics.h"
#include "normalise/channels.h"
#include "tensor/scalar_type.h"
#include <cohort/error.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <torch/csrc/autograd/custom_function.h>

namespace cohort::nn {
namespace {

namespace autograd = torch::autograd;
using normalise::ChannelLoops;
using normalise::ChannelShape;
using normalise::Scaling;
using normalise::Statistics;

/// Loops on the threads of torch.
struct TorchLoop final : Parallel {
  void run(std::size_t count, std::size_t grain, const Body& body) const override {
    if (count == 0) return;
    at::parallel_for(0, static_cast<std::int64_t>(count), static_cast<std::int64_t>(grain),
                     [&](std::int64_t first, std::int64_t last) {
                       body(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
                     });
  }
};

std::vector<double> doubles_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const at::Tensor wide = tensor.detach().to(at::kDouble).contiguous();
  const double* first = wide.const_data_ptr<double>();
  return {first, first + wide.numel()};
}

at::Tensor tensor_of(std::vector<double> numbers, const at::Tensor& like) {
  return at::from_blob(numbers.data(), like.sizes(), at::kDouble).to(like.options(), false, /*copy=*/true);
}

/// A tensor as bytes, and how its channels lie in memory.
struct Laid {
  explicit Laid(const at::Tensor& tensor) : format(format_of(tensor)), dense(tensor.contiguous(format)) {
    const auto size = [&](std::int64_t dim) { return static_cast<std::size_t>(dense.size(dim)); };
    shape.samples = size(0);
    shape.channels = size(1);
    for (std::int64_t dim = 2; dim < dense.dim(); ++dim) shape.points *= size(dim);
    const bool by_rows = format != at::MemoryFormat::Contiguous || shape.points == 1;
    shape.order = by_rows ? normalise::Order::kChannelsLast : normalise::Order::kPointsLast;
  }

  static at::MemoryFormat format_of(const at::Tensor& tensor) {
    if (tensor.dim() != 4 && tensor.dim() != 5) return at::MemoryFormat::Contiguous;
    return tensor.suggest_memory_format();
  }
  const std::byte* bytes() const { return static_cast<const std::byte*>(dense.const_data_ptr()); }

  at::MemoryFormat format;
  at::Tensor dense;
  ChannelShape shape{};
};

std::byte* writable(const at::Tensor& tensor) {
  return static_cast<std::byte*>(tensor.mutable_data_ptr());
}

/// The facts that backward needs, beside input and weight.
struct Kept : torch::CustomClassHolder {
  Kept(std::shared_ptr<StatisticsExchange> over, double epsilon, Statistics found, Standing was)
      : exchange(std::move(over)), eps(epsilon), statistics(std::move(found)), standing(was) {}
  const std::shared_ptr<StatisticsExchange> exchange;
  const double eps;
  const Statistics statistics;
  const Standing standing;
};

// Numbers with few digits are added up around 0 and need one all-reduce. The variance of f64 numbers is taken
// around their mean, which has to be known first.
Statistics statistics_over_ranks(const ChannelLoops& loops, const Laid& x, StatisticsExchange& exchange) {
  const std::size_t channels = x.shape.channels;
  const bool counts = exchange.standing() == Standing::kCounts;
  const std::vector<double> around_zero(channels, 0.0);
  std::vector<double> sums =
      counts ? loops.moments(x.bytes(), around_zero) : std::vector<double>(2 * channels);
  sums.push_back(counts ? static_cast<double>(x.shape.per_channel()) : 0);
  if (x.dense.scalar_type() != at::kDouble) {
    exchange.add_up(sums);
    return normalise::statistics_of(sums.back(), sums, around_zero);
  }
  std::vector<double> first(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(channels));
  first.push_back(sums.back());
  exchange.add_up(first);
  const double count = first.back();
  first.resize(channels);
  first.resize(2 * channels, 0.0);
  const std::vector<double> mean = normalise::statistics_of(count, first, around_zero).mean;
  std::vector<double> moments = counts ? loops.moments(x.bytes(), mean) : std::vector<double>(2 * channels);
  exchange.add_up(std::span(moments).last(channels));
  std::fill_n(moments.begin(), channels, 0.0);  // of this rank only; over all ranks 0, but for rounding
  return normalise::statistics_of(count, moments, mean);
}

void check_count(double count, const at::Tensor& input) {
  if (count != 1) return;
  throw UsageError(
      UsageError(fmt::format("a SyncBatchNorm in training mode has one value of each channel over all ranks, "
                             "expected more; the input of this rank has the sizes [{}]",
                             fmt::join(input.sizes(), ", ")))
          .with_remedy("Give the step more samples, or put the layer into evaluation mode by eval()."));
}

void follow(const RunningStatistics& running, const Statistics& batch) {
  if (!running.mean.defined() || batch.count == 0) return;
  std::vector<double> mean = doubles_of(running.mean), variance = doubles_of(running.variance);
  const double keep = 1 - running.momentum, unbiased = batch.count / (batch.count - 1);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    mean[c] = keep * mean[c] + running.momentum * batch.mean[c];
    variance[c] = keep * variance[c] + running.momentum * batch.variance[c] * unbiased;
  }
  running.mean.copy_(at::from_blob(mean.data(), running.mean.sizes(), at::kDouble));
  running.variance.copy_(at::from_blob(variance.data(), running.variance.sizes(), at::kDouble));
}

struct OverRanks : autograd::Function<OverRanks> {
  static at::Tensor forward(autograd::AutogradContext* context, const at::Tensor& input,
                            const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
                            const NormOrder& order) {
    const Laid x(input);
    const TorchLoop threads;
    const ChannelLoops loops(value_or_throw(dtype_of(input.scalar_type())), x.shape, threads);
    Statistics statistics = statistics_over_ranks(loops, x, *order.exchange);
    check_count(statistics.count, input);
    follow(order.running, statistics);
    const Scaling scaling{.weight = doubles_of(weight.value_or(at::Tensor())),
                          .bias = doubles_of(bias.value_or(at::Tensor()))};
    at::Tensor output = at::empty_like(x.dense, x.format);
    loops.affine(x.bytes(), writable(output), output_factors(statistics, order.eps, scaling));
    context->save_for_backward({x.dense, weight.value_or(at::Tensor())});
    context->saved_data["kept"] = c10::IValue::make_capsule(c10::make_intrusive<Kept>(
        order.exchange, order.eps, std::move(statistics), order.exchange->standing()));
    return output;
  }

  static autograd::tensor_list backward(autograd::AutogradContext* context, autograd::tensor_list gradients) {
    if (at::GradMode::is_enabled()) {
      throw UsageError(UsageError("a SyncBatchNorm has no gradient of its gradient")
                           .with_remedy("Call backward() without create_graph."));
    }
    const autograd::tensor_list saved = context->get_saved_variables();
    const auto capsule = context->saved_data["kept"].toCapsule();
    const Kept& kept = static_cast<const Kept&>(*capsule);
    const Laid x(saved[0]);
    const at::Tensor g = gradients[0].to(x.dense.scalar_type()).contiguous(x.format);
    const auto* g_bytes = static_cast<const std::byte*>(g.const_data_ptr());
    const TorchLoop threads;
    const ChannelLoops loops(value_or_throw(dtype_of(g.scalar_type())), x.shape, threads);
    const bool counts = kept.standing == Standing::kCounts;
    const std::vector<double> own = counts ? loops.products(x.bytes(), g_bytes, kept.statistics.mean)
                                           : std::vector<double>(2 * x.shape.channels);
    at::Tensor of_input;
    if (context->needs_input_grad(0)) {
      std::vector<double> sums = own;
      kept.exchange->add_up(sums);
      of_input = counts ? at::empty_like(x.dense, x.format) : at::zeros_like(x.dense, x.format);
      const Scaling scaling{.weight = doubles_of(saved[1]), .bias = {}};
      if (counts) {
        loops.gradient(x.bytes(), g_bytes, writable(of_input),
                       gradient_factors(kept.statistics, kept.eps, scaling, sums));
      }
    }
    const auto [of_weight, of_bias] = own_gradients(own, kept, saved[1]);
    return {of_input, of_weight, of_bias, at::Tensor()};
  }

  // ∂γ and ∂β of the batch of this rank: the gradients of all ranks are added up as those of other layers
  // are.
  static std::pair<at::Tensor, at::Tensor> own_gradients(const std::vector<double>& sums, const Kept& kept,
                                                         const at::Tensor& weight) {
    if (!weight.defined()) return {};
    const auto channels = static_cast<std::ptrdiff_t>(sums.size() / 2);
    std::vector<double> of_weight = kept.statistics.inverse_deviation(kept.eps);
    for (std::size_t c = 0; c < of_weight.size(); ++c) of_weight[c] *= sums[of_weight.size() + c];
    return {tensor_of(std::move(of_weight), weight),
            tensor_of({sums.begin(), sums.begin() + channels}, weight)};
  }
};

std::optional<at::Tensor> if_defined(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace

at::Tensor normalised_over_ranks(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                                 const NormOrder& order) {
  const DType dtype = value_or_throw(dtype_of(input.scalar_type()));
  if (!is_floating(dtype)) {
    throw UsageError(fmt::format("a SyncBatchNorm got a tensor of {}, expected floats", name(dtype)));
  }
  return OverRanks::apply(input, if_defined(weight), if_defined(bias), order);
}

}  // namespace cohort::nn
