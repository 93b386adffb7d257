#include "model/gpt.h"
#include "model/lenet.h"
#include "model/model.h"
#include "model/perceptron.h"
#include "model/resnet.h"

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

namespace cohort {
namespace {

using model::Activation;
using model::ImageShape;
using model::Initializer;
using model::Memory;

Error refusal(const ModelConfig& config, std::string_view why, std::string remedy) {
  return Error(ErrorCode::kUsage, fmt::format("model.kind '{}' {}", config.kind, why))
      .with_remedy(std::move(remedy));
}

Result<Activation> activation_named(const std::string& name) {
  if (name == "relu" || name.empty()) return Activation::kRelu;
  if (name == "gelu") return Activation::kGelu;
  if (name == "tanh") return Activation::kTanh;
  return Error(ErrorCode::kUsage, fmt::format("there is no model.activation '{}'", name))
      .with_remedy("Take relu, gelu or tanh.");
}

Memory memory_of(const ModelConfig& config) {
  return config.channels_last ? Memory::kChannelsLast : Memory::kContiguous;
}

constexpr std::string_view kSynchronised = "synchronised";

model::NormOver norm_over(const ModelConfig& config) {
  return config.batch_norm == kSynchronised ? model::NormOver::kRanks : model::NormOver::kBatch;
}

Status check_batch_norm(const ModelConfig& config) {
  if (config.batch_norm != kSynchronised || config.kind == "resnet18") return {};
  return refusal(config, "has no batch normalisation to synchronise",
                 "Leave out model.batch_norm, or set model.kind to resnet18.");
}

std::string shape_text(const DataFacts& facts) {
  std::string text;
  for (const std::int64_t size : facts.input_shape) {
    if (!text.empty()) text += " × ";
    text += std::to_string(size);
  }
  return text;
}

Status wants_numbers(const ModelConfig& config, const DataFacts& facts) {
  if (facts.vocabulary == 0) return {};
  return refusal(config, "takes numbers, but the data is text", "Set model.kind to gpt.");
}

Status wants_classes(const ModelConfig& config, const DataFacts& facts) {
  if (facts.classes > 0) return {};
  return refusal(config, "tells classes apart, but the data has none", "Set model.kind to linear or mlp.");
}

std::int64_t num_features(const DataFacts& facts) {
  std::int64_t product = 1;
  for (const std::int64_t size : facts.input_shape) product *= size;
  return product;
}

Result<ImageShape> image_shape(const ModelConfig& config, const DataFacts& facts, std::int64_t least) {
  const auto& shape = facts.input_shape;
  if (shape.size() != 2 && shape.size() != 3) {
    return refusal(config, fmt::format("takes images, but a sample has the shape {}", shape_text(facts)),
                   "Set model.kind to softmax or mlp, or take data of images.");
  }
  const ImageShape image = shape.size() == 2 ? ImageShape{.height = shape[0], .width = shape[1]}
                                             : ImageShape{shape[0], shape[1], shape[2]};
  if (image.height < least || image.width < least) {
    return refusal(config,
                   fmt::format("needs images of at least {0} × {0}, but they are {1} × {2}", least,
                               image.height, image.width),
                   "Take larger images, or set model.kind to mlp.");
  }
  return image;
}

using Made = Result<std::shared_ptr<Model>>;
using Maker = Made (*)(const ModelConfig&, const DataFacts&, Initializer&);

Made make_perceptron(const ModelConfig& config, const DataFacts& facts, Initializer& initializer,
                     std::int64_t outputs) {
  COHORT_RETURN_IF_ERROR(wants_numbers(config, facts));
  COHORT_ASSIGN_OR_RETURN(const Activation activation, activation_named(config.activation));
  model::PerceptronOptions options{
      .widths = {num_features(facts)}, .activation = activation, .dropout = config.dropout};
  if (config.kind == "mlp") {
    for (const int width : config.hidden) {
      if (width < 1) {
        return refusal(config, fmt::format("cannot have a hidden layer of {}", width),
                       "Give widths of at least 1 in model.hidden.");
      }
      options.widths.push_back(width);
    }
  }
  options.widths.push_back(outputs);
  return Made(std::make_shared<model::Perceptron>(initializer, options));
}

Made make_linear(const ModelConfig& config, const DataFacts& facts, Initializer& initializer) {
  if (facts.classes > 0) {
    return refusal(
        config, fmt::format("predicts numbers, but the data has {} classes", facts.classes),
        facts.classes == 2 ? "Set model.kind to logistic or softmax." : "Set model.kind to softmax.");
  }
  return make_perceptron(config, facts, initializer, facts.outputs);
}

Made make_logistic(const ModelConfig& config, const DataFacts& facts, Initializer& initializer) {
  COHORT_RETURN_IF_ERROR(wants_numbers(config, facts));
  if (facts.classes != 2) {
    return refusal(config, fmt::format("tells two classes apart, but the data has {}", facts.classes),
                   facts.classes > 2 ? "Set model.kind to softmax." : "Set model.kind to linear.");
  }
  return make_perceptron(config, facts, initializer, 1);
}

Made make_softmax(const ModelConfig& config, const DataFacts& facts, Initializer& initializer) {
  COHORT_RETURN_IF_ERROR(wants_numbers(config, facts));
  COHORT_RETURN_IF_ERROR(wants_classes(config, facts));
  return make_perceptron(config, facts, initializer, facts.classes);
}

Made make_mlp(const ModelConfig& config, const DataFacts& facts, Initializer& initializer) {
  return make_perceptron(config, facts, initializer, facts.classes > 0 ? facts.classes : facts.outputs);
}

Made make_lenet(const ModelConfig& config, const DataFacts& facts, Initializer& initializer) {
  COHORT_RETURN_IF_ERROR(wants_numbers(config, facts));
  COHORT_RETURN_IF_ERROR(wants_classes(config, facts));
  COHORT_ASSIGN_OR_RETURN(const ImageShape image, image_shape(config, facts, 4));
  COHORT_ASSIGN_OR_RETURN(const Activation activation, activation_named(config.activation));
  const model::LeNetOptions options{.image = image,
                                    .classes = facts.classes,
                                    .activation = activation,
                                    .dropout = config.dropout,
                                    .memory = memory_of(config)};
  return Made(std::make_shared<model::LeNet>(initializer, options));
}

Made make_resnet18(const ModelConfig& config, const DataFacts& facts, Initializer& initializer) {
  COHORT_RETURN_IF_ERROR(wants_numbers(config, facts));
  COHORT_RETURN_IF_ERROR(wants_classes(config, facts));
  COHORT_ASSIGN_OR_RETURN(const ImageShape image, image_shape(config, facts, 1));
  const model::ResNetOptions options{.channels = image.channels,
                                     .classes = facts.classes,
                                     .dropout = config.dropout,
                                     .memory = memory_of(config),
                                     .norm_over = norm_over(config)};
  return Made(std::make_shared<model::ResNet18>(initializer, options));
}

Made make_gpt(const ModelConfig& config, const DataFacts& facts, Initializer& initializer) {
  if (facts.vocabulary == 0) {
    return refusal(config, "takes text, but the data is numbers", "Set data.kind to text or markov.");
  }
  if (config.layers < 1 || config.heads < 1 || config.width < 1 || config.width % config.heads != 0) {
    return refusal(config,
                   fmt::format("cannot have {} layers of width {} with {} heads", config.layers, config.width,
                               config.heads),
                   "Give at least one layer, and a model.width that model.heads divides.");
  }
  const model::GptOptions options{.vocabulary = facts.vocabulary,
                                  .context = facts.context,
                                  .layers = config.layers,
                                  .width = config.width,
                                  .heads = config.heads,
                                  .dropout = config.dropout};
  return Made(std::make_shared<model::Gpt>(initializer, options));
}

constexpr std::pair<std::string_view, Maker> kMakers[] = {
    {"linear", make_linear}, {"logistic", make_logistic}, {"softmax", make_softmax}, {"mlp", make_mlp},
    {"lenet", make_lenet},   {"resnet18", make_resnet18}, {"gpt", make_gpt}};

}  // namespace

Result<std::shared_ptr<Model>> make_model(const ModelConfig& config, const DataFacts& facts,
                                          std::uint64_t seed) {
  if (!(config.dropout >= 0 && config.dropout < 1)) {
    return Error(ErrorCode::kUsage, fmt::format("model.dropout is {}", config.dropout))
        .with_remedy("Give a rate of at least 0 and below 1.");
  }
  COHORT_RETURN_IF_ERROR(check_batch_norm(config));
  Initializer initializer(seed);
  std::string kinds;
  for (const auto& [kind, maker] : kMakers) {
    if (config.kind == kind) return maker(config, facts, initializer);
    kinds += (kinds.empty() ? "" : ", ") + std::string(kind);
  }
  return refusal(config, "is unknown", fmt::format("Take one of {}.", kinds));
}

}  // namespace cohort
