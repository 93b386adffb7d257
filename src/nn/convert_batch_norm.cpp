#include <cohort/batch_norm.h>
#include <cohort/error.h>

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/moduledict.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/container/sequential.h>
#include <vector>

namespace cohort::nn {
namespace {

using torch::nn::Module;

bool is_batch_norm(const Module& module) {
  return module.as<torch::nn::BatchNorm1dImpl>() != nullptr ||
         module.as<torch::nn::BatchNorm2dImpl>() != nullptr ||
         module.as<torch::nn::BatchNorm3dImpl>() != nullptr;
}

/// A layer, in one of the containers that hold it.
struct Place {
  std::shared_ptr<Module> parent;
  std::size_t index;  // among the children of the parent
  std::string name;   // there
};

/// A layer that is to be replaced, and all places where it is.
struct Found {
  std::shared_ptr<Module> layer{};
  std::string path{};  // the name of its first place
  std::vector<Place> places{};
  long holders = 0;  // the pointers to it that are known
};

// A container holds a module twice: as a child of a module, and for its own forward().
bool is_container(const Module& module) {
  return module.as<torch::nn::SequentialImpl>() != nullptr ||
         module.as<torch::nn::ModuleListImpl>() != nullptr ||
         module.as<torch::nn::ModuleDictImpl>() != nullptr;
}

void add_children(const std::shared_ptr<Module>& parent, const std::string& path, std::vector<Found>& found) {
  std::size_t index = 0;
  for (const auto& child : parent->named_children()) {
    if (is_batch_norm(*child.value())) {
      auto known = std::find_if(found.begin(), found.end(),
                                [&](const Found& each) { return each.layer == child.value(); });
      if (known == found.end()) {
        found.push_back({.layer = child.value(), .path = path + child.key(), .places = {}, .holders = 0});
        known = std::prev(found.end());
      }
      known->places.push_back({parent, index, child.key()});
      known->holders += is_container(*parent) ? 2 : 1;
    }
    ++index;
  }
}

// The root may be a local variable: the pointer to it owns nothing.
std::vector<Found> batch_norms_in(Module& root) {
  std::vector<Found> found;
  add_children(std::shared_ptr<Module>(std::shared_ptr<void>(), &root), "", found);
  for (const auto& [path, part] : root.named_modules("", /*include_self=*/false).pairs()) {
    bool is_again = false;  // a module at several places
    for (const Found& each : found) {
      for (const Place& place : each.places) is_again = is_again || place.parent == part;
    }
    if (!is_again) add_children(part, path + ".", found);
  }
  return found;
}

void check_held_by_containers(const std::vector<Found>& found) {
  for (const Found& each : found) {
    if (each.layer.use_count() == each.holders + 1) continue;
    throw UsageError(
        UsageError(fmt::format("the layer '{}' ({}) cannot be replaced: beside the containers it is in, "
                               "something else holds it, such as a member of a class or a variable",
                               each.path, each.layer->name()))
            .with_remedy(
                "Make the member a cohort::nn::SyncBatchNorm of the same dimension; end the life of a "
                "variable before the conversion."));
  }
}

// Puts a layer where another one was.
template <class Layer>
void put(const Place& place, const std::shared_ptr<Layer>& layer) {
  const auto index = static_cast<std::ptrdiff_t>(place.index);
  if (auto* dict = place.parent->template as<torch::nn::ModuleDictImpl>()) {
    using Item = std::pair<std::string, std::shared_ptr<Module>>;
    return dict->update(std::vector<Item>{{place.name, layer}});
  }
  if (auto* sequential = place.parent->template as<torch::nn::SequentialImpl>()) {
    *(sequential->begin() + index) = torch::nn::AnyModule(layer);
  }
  if (auto* list = place.parent->template as<torch::nn::ModuleListImpl>()) *(list->begin() + index) = layer;
  place.parent->replace_module(place.name, std::shared_ptr<Module>(layer));
}

template <class Layer, class Old>
void replace(const Found& found, const Old& old) {
  const auto layer = std::make_shared<Layer>(old.options);
  layer->take_over(old);
  for (const Place& place : found.places) put(place, layer);
}

}  // namespace

std::size_t convert_sync_batch_norm(torch::nn::Module& module) {
  if (is_batch_norm(module)) {
    throw UsageError(UsageError("a batch normalisation cannot replace itself by a SyncBatchNorm")
                         .with_remedy("Make a cohort::nn::SyncBatchNorm with the same options."));
  }
  const std::vector<Found> found = batch_norms_in(module);
  check_held_by_containers(found);
  for (const Found& each : found) {
    const Module& old = *each.layer;
    if (const auto* one = old.as<torch::nn::BatchNorm1dImpl>()) replace<SyncBatchNorm1dImpl>(each, *one);
    if (const auto* two = old.as<torch::nn::BatchNorm2dImpl>()) replace<SyncBatchNorm2dImpl>(each, *two);
    if (const auto* three = old.as<torch::nn::BatchNorm3dImpl>()) replace<SyncBatchNorm3dImpl>(each, *three);
  }
  return found.size();
}

}  // namespace cohort::nn
