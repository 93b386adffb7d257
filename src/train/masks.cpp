#include "train/masks.h"

#include "state/safetensors.h"
#include "storage/local_file_system.h"
#include "tensor/scalar_type.h"
#include "update/groups.h"
#include "update/mask.h"
#include <cohort/error.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::train {
namespace {

// A tensor of bytes in memory as that of the parameter.
at::Tensor laid_out_as(const at::Tensor& parameter, const at::Tensor& mask) {
  at::Tensor bytes = at::empty_like(parameter.detach(), at::TensorOptions().dtype(at::kByte));
  return bytes.copy_(mask.view(parameter.sizes()));
}

std::vector<std::uint8_t> bytes_of(const at::Tensor& mask) {
  const auto* const first = mask.const_data_ptr<std::uint8_t>();
  return {first, first + mask.numel()};
}

// Magnitudes are compared in the order of the elements in their shape, which no layout of memory changes.
std::vector<std::uint8_t> mask_by_magnitude(const at::Tensor& parameter, double sparsity) {
  const at::Tensor whole = parameter.detach().to(at::kFloat).contiguous();
  std::vector<std::uint8_t> mask = update::mask_of_largest(
      {whole.const_data_ptr<float>(), static_cast<std::size_t>(whole.numel())}, sparsity);
  const at::Tensor view = at::from_blob(mask.data(), {whole.numel()}, at::TensorOptions().dtype(at::kByte));
  return bytes_of(laid_out_as(parameter, view));
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return update::matches(pattern, name); });
}

void check_patterns(const ModuleTensors& tensors, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const auto matches = [&](const NamedTensor& named) { return update::matches(pattern, named.name); };
    if (std::any_of(tensors.parameters.begin(), tensors.parameters.end(), matches)) continue;
    throw UsageError(UsageError(fmt::format("the pattern '{}' of TrainerOptions::mask.parameters matches no "
                                            "parameter that is trained",
                                            pattern))
                         .with_remedy("`*` matches any number of characters, `?` exactly one."));
  }
}

ParameterMasks masks_by_magnitude(const ModuleTensors& tensors, const MaskOptions& options) {
  check_patterns(tensors, options.parameters);
  ParameterMasks masks;
  for (const NamedTensor& named : tensors.parameters) {
    const bool is_asked =
        options.parameters.empty() ? named.tensor.dim() >= 2 : matches_any(options.parameters, named.name);
    masks.push_back(is_asked ? mask_by_magnitude(named.tensor, *options.sparsity)
                             : std::vector<std::uint8_t>());
  }
  return masks;
}

std::vector<std::uint8_t> mask_in(const TensorView& view, const NamedTensor& named) {
  const at::Tensor given = at::from_blob(const_cast<std::byte*>(view.bytes.data()), view.shape,
                                         at::TensorOptions().dtype(scalar_type_of(view.dtype)));
  if (given.sizes() != named.tensor.sizes()) {
    throw UsageError(fmt::format("its '{}' has shape [{}], the model's has [{}]", named.name,
                                 fmt::join(given.sizes(), ", "), fmt::join(named.tensor.sizes(), ", ")));
  }
  const at::Tensor kept = given != 0;
  if (!at::equal(kept.to(given.scalar_type()), given)) {
    throw UsageError(fmt::format("its '{}' has numbers besides 0 and 1", named.name));
  }
  return bytes_of(laid_out_as(named.tensor, kept.to(at::kByte)));
}

ParameterMasks masks_in(const SafetensorsFile& file, const ModuleTensors& tensors) {
  ParameterMasks masks(tensors.parameters.size());
  for (const TensorView& view : file.tensors()) {
    const auto is_its = [&](const NamedTensor& named) { return named.name == view.name; };
    const auto found = std::find_if(tensors.parameters.begin(), tensors.parameters.end(), is_its);
    if (found == tensors.parameters.end()) {
      throw UsageError(fmt::format("the model has no parameter '{}' that is trained", view.name));
    }
    masks[static_cast<std::size_t>(found - tensors.parameters.begin())] = mask_in(view, *found);
  }
  return masks;
}

ParameterMasks masks_of_file(const std::string& path, const ModuleTensors& tensors) {
  LocalFileSystem files;
  const SafetensorsFile file =
      value_or_throw(SafetensorsFile::open(files, path).within("cannot read TrainerOptions::mask.file"));
  try {
    return masks_in(file, tensors);
  } catch (const Error& error) {
    throw UsageError(
        UsageError(fmt::format("the masks in '{}' do not fit the model: {}", path, error.message()))
            .with_remedy("Name each mask as its parameter, with the same shape, of zeros and ones."));
  }
}

void check_masks_any(const ParameterMasks& masks, const MaskOptions& options) {
  if (std::any_of(masks.begin(), masks.end(), [](const auto& mask) { return !mask.empty(); })) return;
  throw UsageError(UsageError(options.file.empty() ? "TrainerOptions::mask.sparsity is set, but no parameter "
                                                     "has two dimensions or more"
                                                   : "the file TrainerOptions::mask.file has no masks")
                       .with_remedy("Name parameters in TrainerOptions::mask.parameters, or leave the mask "
                                    "out."));
}

}  // namespace

bool asks_for_masks(const MaskOptions& options) {
  return options.sparsity.has_value() || !options.file.empty();
}

ParameterMasks masks_of(const ModuleTensors& tensors, const MaskOptions& options) {
  if (!asks_for_masks(options)) return ParameterMasks(tensors.parameters.size());
  ParameterMasks masks =
      options.file.empty() ? masks_by_magnitude(tensors, options) : masks_of_file(options.file, tensors);
  check_masks_any(masks, options);
  return masks;
}

// Flags first: a parameter without a mask has no bytes to send.
ParameterMasks make_masks(Communicator& group, const ModuleTensors& tensors, const MaskOptions& options) {
  ParameterMasks masks(tensors.parameters.size());
  if (!asks_for_masks(options)) return masks;
  if (group.rank() == 0) masks = masks_of(tensors, options);
  std::vector<std::uint8_t> has_one;
  for (const auto& mask : masks) has_one.push_back(mask.empty() ? 0 : 1);
  value_or_throw(group.run(broadcast(std::span(has_one), 0)));
  for (std::size_t p = 0; p < masks.size(); ++p) {
    if (has_one[p] == 0) continue;
    masks[p].resize(static_cast<std::size_t>(tensors.parameters[p].tensor.numel()));
    value_or_throw(group.run(broadcast(std::span(masks[p]), 0)));
  }
  return masks;
}

void hold_at_zero(const ModuleTensors& tensors, const ParameterMasks& masks) {
  const at::NoGradGuard no_grad;
  for (std::size_t p = 0; p < masks.size(); ++p) {
    if (masks[p].empty()) continue;
    const at::Tensor& parameter = tensors.parameters[p].tensor;
    at::Tensor mask = at::empty_like(parameter, at::TensorOptions().dtype(at::kByte));
    std::memcpy(mask.mutable_data_ptr(), masks[p].data(), masks[p].size());
    at::Tensor(parameter.detach()).masked_fill_(mask == 0, 0);
  }
}

}  // namespace cohort::train
