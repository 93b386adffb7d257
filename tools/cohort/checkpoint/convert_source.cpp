#include "checkpoint/convert_source.h"

#include "checkpoint/find_snapshots.h"
#include "interchange/model_tensors.h"
#include "interchange/torch_pieces.h"
#include "storage/path.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace cohort::tool {
namespace {

using checkpoint::WholeTensors;

/// The pieces of another source under other names.
class RenamedPieces final : public state::PieceSource {
 public:
  RenamedPieces(state::PieceSource& source, const interchange::NameRules& rules)
      : source_(source), held_(source.held().begin(), source.held().end()) {
    for (state::HeldPiece& each : held_) each.piece.name = rules.apply(each.piece.name).name;
  }

  std::span<const state::HeldPiece> held() const override { return held_; }
  Status agree(const Status& mine) override { return source_.agree(mine); }
  Status read(std::span<const state::Read> reads, const state::Taker& take) override {
    return source_.read(reads, take);
  }

 private:
  state::PieceSource& source_;
  std::vector<state::HeldPiece> held_;
};

std::string format_of(FileSystem& files, const SourceOrder& order) {
  if (!order.format.empty()) return order.format;
  const auto found = files.info(order.path);
  if (found && found->kind == FileKind::kFile) return "torch";
  return files.exists(storage::joined(order.path, ".metadata")).value_or(false) ? "dcp" : "cohort";
}

// Without names in the file, its model has the parameters in the order of the optimizer, if it has no
// buffers.
Result<interchange::OptimizerState> optimizer_of(const interchange::Value& root,
                                                 const interchange::ModelTensors& model) {
  auto named = interchange::find_optimizer(root, {});
  if (named) return named;
  std::vector<std::string> names;
  for (const interchange::NamedTensor& each : model.tensors) names.push_back(each.name);
  return interchange::find_optimizer(root, names);
}

}  // namespace

Result<std::vector<RuleUse>> use_rules(const interchange::NameRules& rules,
                                       const std::vector<std::string>& names) {
  std::vector<RuleUse> uses;
  for (const std::string& rule : rules.texts()) uses.push_back({.rule = rule});
  std::map<std::string, std::string> taken;  // new name: old name
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    const auto applied = rules.apply(name);
    if (applied.rule) ++uses[*applied.rule].num_tensors;
    const auto [found, is_new] = taken.try_emplace(applied.name, name);
    if (is_new) continue;
    return Error(ErrorCode::kUsage, fmt::format("the tensors '{}' and '{}' would both be named '{}'",
                                                found->second, name, applied.name))
        .with_remedy("Change the rules of --rename so that all names differ.");
  }
  return uses;
}

Result<std::unique_ptr<ConvertSource>> ConvertSource::open(FileSystem& files, const SourceOrder& order) {
  std::unique_ptr<ConvertSource> source(new ConvertSource);
  COHORT_ASSIGN_OR_RETURN(source->rules_, interchange::NameRules::parse(order.rules));
  const std::string format = format_of(files, order);
  if (format == "cohort") {
    COHORT_RETURN_IF_ERROR(source->open_snapshot(files, order));
  } else {
    source->name_ = order.path;
    COHORT_RETURN_IF_ERROR(format == "dcp" ? source->open_dcp(files, order)
                                           : source->open_torch(files, order));
    source->tensors_ = std::make_unique<WholeTensors>(*source->pieces_);
  }
  return source;
}

Status ConvertSource::open_snapshot(FileSystem& files, const SourceOrder& order) {
  COHORT_ASSIGN_OR_RETURN(const FoundSnapshot found, find_snapshot(files, order.path));
  COHORT_ASSIGN_OR_RETURN(snapshot_, checkpoint::Snapshot::open(files, found.folder, found.name));
  name_ = found.name;
  course_ = snapshot_->manifest().course;
  std::vector<std::string> names;
  for (const state::HeldPiece& held : snapshot_->held()) names.push_back(held.piece.name);
  COHORT_ASSIGN_OR_RETURN(rule_uses_, use_rules(rules_, names));
  for (checkpoint::OptimizerGroup& group : course_.optimizer_groups) {
    for (std::string& name : group.parameters) name = rules_.apply(name).name;
  }
  pieces_ = std::make_unique<RenamedPieces>(*snapshot_, rules_);
  tensors_ = std::make_unique<WholeTensors>(*pieces_, checkpoint::compressed_pieces_of(*snapshot_));
  return {};
}

Status ConvertSource::open_torch(FileSystem& files, const SourceOrder& order) {
  COHORT_ASSIGN_OR_RETURN(torch_, interchange::open_torch_file(files, order.path));
  COHORT_ASSIGN_OR_RETURN(const auto model, interchange::find_model(torch_->root()));
  std::vector<std::string> names;
  for (const interchange::NamedTensor& each : model.tensors) names.push_back(each.name);
  auto pieces = std::make_unique<interchange::TorchPieces>(*torch_, model.tensors, rules_);
  if (order.has_optimizer) {
    COHORT_ASSIGN_OR_RETURN(const auto optimizer, optimizer_of(torch_->root(), model));
    pieces->add(optimizer, rules_);
    for (const interchange::NamedTensor& each : optimizer.tensors) names.push_back(each.name);
    for (const auto& each : optimizer.numbers) names.push_back(each.name);
  }
  pieces_ = std::move(pieces);
  COHORT_ASSIGN_OR_RETURN(rule_uses_, use_rules(rules_, names));
  return {};
}

Status ConvertSource::open_dcp(FileSystem& files, const SourceOrder& order) {
  COHORT_ASSIGN_OR_RETURN(dcp_, interchange::open_dcp(files, order.path));
  std::vector<std::string> names;
  for (const interchange::DcpTensor& tensor : dcp_->tensors()) names.push_back(tensor.name);
  pieces_ = std::make_unique<interchange::DcpPieces>(*dcp_, rules_);
  COHORT_ASSIGN_OR_RETURN(rule_uses_, use_rules(rules_, names));
  return {};
}

}  // namespace cohort::tool
