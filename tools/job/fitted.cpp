#include "job/model_data.h"

#include "predict/along_first_dim.h"
#include <cohort/predict.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace cohort::job {
namespace {

using Names = std::vector<std::string>;
using Indices = std::vector<std::int64_t>;

Error does_not_fit(const std::string& where, const std::string& why) {
  return Error(ErrorCode::kUsage, fmt::format("'{}' does not fit the model: {}", where, why));
}

Names names_or_numbers(const Names& names, std::int64_t count) {
  if (!names.empty()) return names;
  Names numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

// The index in `to` of each name of `from`; -1 for a name that is not there.
Indices places(const Names& from, const Names& to) {
  Indices found;
  for (const std::string& name : from) {
    const auto at = std::find(to.begin(), to.end(), name);
    found.push_back(at == to.end() ? -1 : at - to.begin());
  }
  return found;
}

bool is_identity(const Indices& indices, std::size_t size) {
  if (indices.size() != size) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (indices[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

Result<Indices> known_places(const Names& from, const Names& to, const std::string& where, const char* what) {
  Indices found = places(from, to);
  const auto unknown = std::find(found.begin(), found.end(), -1);
  if (unknown == found.end()) return found;
  return does_not_fit(where, fmt::format("its {} '{}' is unknown to the model", what,
                                         from[static_cast<std::size_t>(unknown - found.begin())]));
}

enum class TargetForm { kAsItIs, kMapped, kNumber };

/// How a batch becomes one that the model takes. Absent parts change nothing.
struct Fit {
  std::optional<at::Tensor> columns;   ///< of the data, in the order of the model
  std::optional<at::Tensor> tokens;    ///< of the model, for each token of the data
  std::optional<at::Tensor> classes;   ///< of the model, for each class of the data
  std::optional<ModelFacts> rescaled;  ///< facts of the model, if raw numbers are made and scaled again
  at::Tensor mean, deviation;          ///< of the data
  double brightness = 1;               ///< of the model's white pixel, in units of that of the data
  TargetForm target = TargetForm::kAsItIs;
};

class FittedDataset final : public Dataset {
 public:
  FittedDataset(std::shared_ptr<const Dataset> data, Fit fit)
      : data_(std::move(data)), fit_(std::move(fit)) {}

  std::int64_t size() const override { return data_->size(); }

  Sample at(std::int64_t index) const override { return drawn(index, Draw{}); }

  Sample drawn(std::int64_t index, const Draw& draw) const override {
    return batch(std::span(&index, 1), draw).at(0);
  }

  Batch batch(std::span<const std::int64_t> indices, const Draw& draw) const override {
    Batch batch = data_->batch(indices, draw);
    if (fit_.tokens) {
      batch.input = fit_.tokens->index({batch.input});
      batch.target = fit_.tokens->index({batch.target});
      return batch;
    }
    if (fit_.rescaled) {
      const at::Tensor raw = (batch.input.to(at::kDouble) * fit_.deviation + fit_.mean) * fit_.brightness;
      batch.input = normalised(*fit_.rescaled, fit_.columns ? raw.index_select(1, *fit_.columns) : raw);
    } else if (fit_.columns) {
      batch.input = batch.input.index_select(1, *fit_.columns);
    }
    if (fit_.target == TargetForm::kMapped) batch.target = fit_.classes->index({batch.target});
    if (fit_.target == TargetForm::kNumber) batch.target = batch.target.to(at::kFloat).view({-1, 1});
    return batch;
  }

 private:
  const std::shared_ptr<const Dataset> data_;
  const Fit fit_;
};

at::Tensor as_index(const Indices& indices) {
  return at::tensor(indices, at::kLong);
}

at::Tensor scale_numbers(const OpenedData& opened, double data::Scale::*member, double otherwise) {
  std::vector<double> numbers;
  for (const data::Scale& scale : opened.source.scales) numbers.push_back(scale.*member);
  if (numbers.empty()) numbers.push_back(otherwise);
  return predict::along_first_dim(numbers, opened.facts.input_shape.size());
}

bool has_the_scales_of(const OpenedData& opened, const ModelFacts& facts) {
  const auto& scales = opened.source.scales;
  if (scales.size() != facts.mean.size()) return false;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scales[i].mean != facts.mean[i] || scales[i].deviation != facts.deviation[i]) return false;
  }
  return opened.source.white == facts.white;
}

Result<Fit> fit_of_text(const OpenedData& opened, const ModelFacts& facts, const std::string& where) {
  if (opened.facts.context > facts.context) {
    return does_not_fit(where, fmt::format("its samples have {} tokens, the context of the model {}",
                                           opened.facts.context, facts.context));
  }
  Fit fit;
  COHORT_ASSIGN_OR_RETURN(const Indices tokens,
                          known_places(opened.vocabulary, facts.vocabulary, where, "token"));
  if (!is_identity(tokens, facts.vocabulary.size())) fit.tokens = as_index(tokens);
  return fit;
}

Status fit_columns(Fit& fit, const OpenedData& opened, const ModelFacts& facts, const std::string& where) {
  std::vector<std::int64_t> shape = opened.facts.input_shape;
  if (!opened.source.features.empty() && !facts.features.empty()) {
    const Indices columns = places(facts.features, opened.source.features);
    const auto missing = std::find(columns.begin(), columns.end(), -1);
    if (missing != columns.end()) {
      return does_not_fit(where,
                          fmt::format("it has no column '{}'",
                                      facts.features[static_cast<std::size_t>(missing - columns.begin())]));
    }
    if (!is_identity(columns, opened.source.features.size())) fit.columns = as_index(columns);
    shape = {static_cast<std::int64_t>(columns.size())};
  }
  if (shape == facts.input_shape) return {};
  return does_not_fit(where, fmt::format("a sample has the shape [{}], the model takes [{}]",
                                         fmt::join(shape, ", "), fmt::join(facts.input_shape, ", ")));
}

Status fit_targets(Fit& fit, const OpenedData& opened, const ModelFacts& facts, const std::string& where) {
  if (facts.classes.empty()) {
    if (opened.facts.classes > 0 && !opened.vocabulary.empty()) {
      return does_not_fit(where, "its targets are classes, and the model predicts numbers");
    }
    if (opened.facts.classes > 0) fit.target = TargetForm::kNumber;
    return {};
  }
  if (opened.facts.classes == 0) {
    return does_not_fit(
        where, fmt::format("its targets are not among the {} classes of the model", facts.classes.size()));
  }
  const Names names = names_or_numbers(opened.vocabulary, opened.facts.classes);
  COHORT_ASSIGN_OR_RETURN(const Indices classes, known_places(names, facts.classes, where, "class"));
  if (is_identity(classes, classes.size())) return {};
  fit.classes = as_index(classes);
  fit.target = TargetForm::kMapped;
  return {};
}

Result<Fit> fit_of_numbers(const OpenedData& opened, const ModelFacts& facts, const std::string& where) {
  Fit fit;
  COHORT_RETURN_IF_ERROR(fit_columns(fit, opened, facts, where));
  COHORT_RETURN_IF_ERROR(fit_targets(fit, opened, facts, where));
  if (has_the_scales_of(opened, facts) && !fit.columns) return fit;
  fit.rescaled = facts;
  fit.mean = scale_numbers(opened, &data::Scale::mean, 0);
  fit.deviation = scale_numbers(opened, &data::Scale::deviation, 1);
  if (facts.white && opened.source.white) fit.brightness = *facts.white / *opened.source.white;
  return fit;
}

}  // namespace

Result<std::shared_ptr<const Dataset>> fitted(std::shared_ptr<const Dataset> data, const OpenedData& opened,
                                              const ModelFacts& facts, const std::string& where) {
  const bool takes_text = !facts.vocabulary.empty();
  if (takes_text != (opened.facts.vocabulary > 0)) {
    return does_not_fit(where, takes_text ? "it is numbers, and the model takes text"
                                          : "it is text, and the model takes numbers");
  }
  auto fit = takes_text ? fit_of_text(opened, facts, where) : fit_of_numbers(opened, facts, where);
  if (!fit) return fit.error();
  const bool is_same = !fit->tokens && !fit->columns && !fit->rescaled && fit->target == TargetForm::kAsItIs;
  if (is_same) return data;
  return std::shared_ptr<const Dataset>(std::make_shared<FittedDataset>(std::move(data), std::move(*fit)));
}

}  // namespace cohort::job
