#include "train/model_file.h"

#include "tensor/scalar_type.h"
#include <cohort/tensor.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::train {
namespace {

// Views of tensors, and the tensors that own their bytes.
struct Views {
  std::vector<at::Tensor> kept;
  std::vector<TensorView> views;

  void add(const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& named : tensors) {
      const at::Tensor whole = kept.emplace_back(named.tensor.detach().contiguous());
      views.push_back({.name = named.name,
                       .dtype = dtype_of(whole),
                       .shape = whole.sizes().vec(),
                       .bytes = {static_cast<const std::byte*>(whole.const_data_ptr()), whole.nbytes()}});
    }
  }
};

std::vector<NamedTensor> all_of(const ModuleTensors& tensors) {
  std::vector<NamedTensor> all;
  for (const auto* each : {&tensors.parameters, &tensors.frozen, &tensors.buffers, &tensors.counters}) {
    all.insert(all.end(), each->begin(), each->end());
  }
  return all;
}

std::string shape_text(at::IntArrayRef shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

Status fits(const NamedTensor& named, const TensorView* view) {
  if (view == nullptr) return Error(ErrorCode::kUsage, fmt::format("it has no tensor '{}'", named.name));
  if (named.tensor.sizes() == at::IntArrayRef(view->shape)) return {};
  return Error(ErrorCode::kUsage, fmt::format("its '{}' has shape {}, the model's has {}", named.name,
                                              shape_text(view->shape), shape_text(named.tensor.sizes())));
}

}  // namespace

Status write_model(FileSystem& files, const std::string& path, const ModuleTensors& tensors,
                   const std::map<std::string, std::string>& facts) {
  Views views;
  views.add(all_of(tensors));
  return write_safetensors(files, path, views.views, facts);
}

Status read_model(FileSystem& files, const std::string& path, const ModuleTensors& tensors) {
  COHORT_ASSIGN_OR_RETURN(const SafetensorsFile file,
                          SafetensorsFile::open(files, path).within("cannot read the initial weights"));
  return read_model(file, path, tensors);
}

Status read_model(const SafetensorsFile& file, const std::string& path, const ModuleTensors& tensors) {
  const std::vector<NamedTensor> all = all_of(tensors);
  const auto context = fmt::format("the weights in '{}' do not fit the model", path);
  for (const NamedTensor& named : all) {
    COHORT_RETURN_IF_ERROR(fits(named, file.find(named.name)).within(context));
  }
  for (const TensorView& view : file.tensors()) {
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const NamedTensor& named) { return named.name == view.name; });
    if (!known) {
      return Error(ErrorCode::kUsage, fmt::format("the model has no tensor '{}'", view.name)).within(context);
    }
  }
  const at::NoGradGuard no_grad;
  for (const NamedTensor& named : all) {
    const TensorView& view = *file.find(named.name);
    named.tensor.detach().copy_(at::from_blob(const_cast<std::byte*>(view.bytes.data()), view.shape,
                                              at::TensorOptions().dtype(scalar_type_of(view.dtype))));
  }
  return {};
}

std::string hash_of(const ModuleTensors& tensors) {
  Views views;
  views.add(tensors.parameters);
  views.add(tensors.frozen);
  return parameters_hash(views.views);
}

}  // namespace cohort::train
