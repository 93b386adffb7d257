#include "model/dropout_mask.h"

#include "base/check.h"
#include "model/random_words.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cohort/random.h>
#include <span>
#include <torch/csrc/autograd/custom_function.h>
#include <utility>

namespace cohort::model {
namespace {

namespace autograd = torch::autograd;

constexpr std::uint64_t kDropoutStream = 0x64726f706f7574;  // "dropout"

constexpr std::size_t kWordsAtOnce = 256;  // each element takes one word

/// The constants of a mask.
struct Drop {
  std::uint32_t threshold;  ///< an element with a smaller random word is dropped
  double scale;             ///< factor of the elements that are kept
};

Drop drop_of(double rate) {
  const double words = std::ldexp(1.0, 32);
  return {.threshold = static_cast<std::uint32_t>(std::fmin(rate * words + 0.5, words - 1)),
          .scale = 1 / (1 - rate)};
}

/// One sample: element i takes word i % 4 of block i / 4 of the sample's stream.
template <class T>
void drop_row(const StreamName& stream, const Drop& drop, const T* from, T* to, std::size_t count) {
  const std::uint32_t threshold = drop.threshold;
  const T scale = static_cast<T>(drop.scale);
  std::array<std::uint32_t, kWordsAtOnce> words;
  for (std::size_t first = 0; first < count; first += kWordsAtOnce) {
    const std::size_t size = std::min(kWordsAtOnce, count - first);
    random_words(stream, first / 4, std::span(words).first((size + 31) / 32 * 32));
    for (std::size_t i = 0; i < size; ++i) {
      to[first + i] = words[i] >= threshold ? from[first + i] * scale : T{0};
    }
  }
}

template <class T>
void drop_rows(const at::Tensor& from, at::Tensor& to, const DropoutMask& mask) {
  const std::size_t row = static_cast<std::size_t>(from.numel()) / mask.samples->size();
  const Drop drop = drop_of(mask.rate);
  const T* in = from.const_data_ptr<T>();
  T* out = to.mutable_data_ptr<T>();
  for (const std::int64_t sample : *mask.samples) {
    drop_row({.seed = mask.key, .stream = static_cast<std::uint64_t>(sample)}, drop, in, out, row);
    in += row;
    out += row;
  }
}

at::Tensor dropped(const at::Tensor& input, const DropoutMask& mask) {
  COHORT_CHECK_EQ(input.size(0), static_cast<std::int64_t>(mask.samples->size()));
  const at::ScalarType type = input.scalar_type();
  if (type != at::kFloat && type != at::kDouble) return dropped(input.to(at::kFloat), mask).to(type);
  const at::Tensor from = input.contiguous();
  at::Tensor to = at::empty_like(from);
  if (from.numel() == 0) return to;
  if (type == at::kFloat) {
    drop_rows<float>(from, to, mask);
  } else {
    drop_rows<double>(from, to, mask);
  }
  return to;
}

struct MaskHolder : torch::CustomClassHolder {
  explicit MaskHolder(DropoutMask held) : mask(std::move(held)) {}
  DropoutMask mask;
};

struct MaskFunction : autograd::Function<MaskFunction> {
  static at::Tensor forward(autograd::AutogradContext* context, const at::Tensor& input,
                            const DropoutMask& mask) {
    context->saved_data["mask"] = c10::IValue::make_capsule(c10::make_intrusive<MaskHolder>(mask));
    return dropped(input, mask);
  }

  static autograd::tensor_list backward(autograd::AutogradContext* context, autograd::tensor_list gradients) {
    const auto holder = context->saved_data["mask"].toCapsule();
    const DropoutMask& mask = static_cast<const MaskHolder&>(*holder).mask;
    return {apply(gradients[0], mask), at::Tensor()};
  }
};

}  // namespace

std::uint64_t dropout_key(std::uint64_t seed, std::uint64_t step, std::uint64_t layer) {
  return RandomStream(seed, kDropoutStream).substream(step).substream(layer).bits(0);
}

at::Tensor masked(const at::Tensor& input, const DropoutMask& mask) {
  return MaskFunction::apply(input, mask);
}

}  // namespace cohort::model
