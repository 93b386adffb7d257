#include "checkpoint/byte_progress.h"
#include "checkpoint/export.h"
#include "checkpoint/find_snapshots.h"
#include "checkpoint/snapshot_difference.h"
#include "checkpoint/snapshot_facts.h"
#include "commands.h"
#include "observe/json_text.h"
#include "observe/table.h"
#include "storage/local_file_system.h"
#include "storage/path.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using checkpoint::Snapshot;
using checkpoint::SnapshotTensors;
using DiffJson = nlohmann::ordered_json;

std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 40;
  const std::string line = text.substr(0, text.find('\n'));
  if (line.size() <= kMost) return line.size() < text.size() ? line + " …" : line.empty() ? "-" : line;
  return line.substr(0, kMost) + "…";
}

std::string share_text(const checkpoint::Difference& difference) {
  const std::string all = fmt::format("{} of {}", difference.num_different, difference.num_elements);
  return difference.num_nan == 0 ? all : fmt::format("{}, {} NaN in one", all, difference.num_nan);
}

DiffJson values_json(const std::vector<OtherValue>& values) {
  DiffJson list = DiffJson::array();
  for (const OtherValue& each : values)
    list.push_back({{"name", each.name}, {"a", each.in_a}, {"b", each.in_b}});
  return list;
}

/// `cohort checkpoint diff A B`: the tensors and facts that differ between two snapshots.
class CheckpointDiffCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"checkpoint", "diff"}; }
  std::string summary() const override {
    return "Compare two snapshots, tensor by tensor; exits with 1 if a tensor differs";
  }
  void add_options(CLI::App& app) override {
    app.add_option("a", paths_[0], "A snapshot; of a run or a folder of snapshots, the newest")->required();
    app.add_option("b", paths_[1], "Another snapshot, of any number of ranks")->required();
    app.add_flag("--json", json_, "One JSON object");
  }

  Result<ExitCode> run(Session& session) override {
    LocalFileSystem files;
    COHORT_ASSIGN_OR_RETURN(const auto snapshot_a, open(files, paths_[0]));
    COHORT_ASSIGN_OR_RETURN(const auto snapshot_b, open(files, paths_[1]));
    const SnapshotTensors a(*snapshot_a), b(*snapshot_b);
    COHORT_ASSIGN_OR_RETURN(const SnapshotDifference difference, compared(a, b));
    session.out << (json_ ? observe::json_text(json(difference)) : text(session, difference));
    return difference.has_same_tensors() ? ExitCode::kDone : ExitCode::kFailed;
  }

 private:
  static Result<std::unique_ptr<Snapshot>> open(FileSystem& files, const std::string& path) {
    COHORT_ASSIGN_OR_RETURN(const FoundSnapshot found, find_snapshot(files, path));
    return Snapshot::open(files, found.folder, found.name);
  }

  static Result<SnapshotDifference> compared(const SnapshotTensors& a, const SnapshotTensors& b) {
    using checkpoint::Part;
    using checkpoint::tensors_of;
    ByteProgress progress("diff",
                          size_bytes(tensors_of(a, Part::kAll)) + size_bytes(tensors_of(b, Part::kAll)));
    return difference_of(a, b, [&](std::uint64_t bytes) { progress.add(bytes); });
  }

  static std::string text(const Session& session, const SnapshotDifference& difference) {
    std::string text;
    if (!difference.has_same_tensors()) text += tensor_table(difference).text(session.screen()) + "\n";
    if (!difference.facts.empty()) {
      observe::Table table({"fact", "a", "b"});
      for (const OtherValue& fact : difference.facts) {
        table.add({{fact.name, Colour::kBold}, {shortened(fact.in_a)}, {shortened(fact.in_b)}});
      }
      text += table.text(session.screen()) + "\n";
    }
    const std::size_t both = difference.num_same + difference.tensors.size() + difference.types.size();
    if (both == 0) return text + "No tensor is in both.\n";
    return text +
           fmt::format("{} of {} in both are the same.\n", difference.num_same, counted(both, "tensor"));
  }

  static observe::Table tensor_table(const SnapshotDifference& difference) {
    observe::Table table({"tensor", "largest |a − b|", "rms", "elements that differ"});
    for (const OtherTensor& each : difference.tensors) {
      table.add({{each.name, Colour::kBold},
                 {number_text(each.difference.max_abs)},
                 {number_text(each.difference.rms)},
                 {share_text(each.difference)}});
    }
    const auto add = [&](const std::string& name, const std::string& remark) {
      table.add({{name, Colour::kBold}, {"-"}, {"-"}, {remark, Colour::kYellow}});
    };
    for (const OtherValue& each : difference.types)
      add(each.name, fmt::format("{} in a, {} in b", each.in_a, each.in_b));
    for (const std::string& name : difference.only_in_a) add(name, "only in a");
    for (const std::string& name : difference.only_in_b) add(name, "only in b");
    return table;
  }

  DiffJson json(const SnapshotDifference& difference) const {
    DiffJson tensors = DiffJson::array();
    for (const OtherTensor& each : difference.tensors) {
      tensors.push_back({{"name", each.name},
                         {"elements", each.difference.num_elements},
                         {"different", each.difference.num_different},
                         {"nan_in_one", each.difference.num_nan},
                         {"max_abs", number_json(each.difference.max_abs)},
                         {"rms", number_json(each.difference.rms)}});
    }
    return {{"a", paths_[0]},
            {"b", paths_[1]},
            {"same", difference.has_same_tensors()},
            {"same_tensors", difference.num_same},
            {"tensors", tensors},
            {"types", values_json(difference.types)},
            {"only_in_a", difference.only_in_a},
            {"only_in_b", difference.only_in_b},
            {"facts", values_json(difference.facts)}};
  }

  std::string paths_[2];
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_checkpoint_diff_command() {
  return std::make_unique<CheckpointDiffCommand>();
}

}  // namespace cohort::tool
