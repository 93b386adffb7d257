#include "base/units.h"
#include "checkpoint/find_snapshots.h"
#include "checkpoint/snapshot_facts.h"
#include "checkpoint/tensor_tree.h"
#include "checkpoint/weight_index.h"
#include "commands.h"
#include "observe/amounts.h"
#include "observe/json_text.h"
#include "storage/local_file_system.h"
#include "storage/path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using checkpoint::Snapshot;
using checkpoint::SnapshotTensors;
using checkpoint::WholeTensor;
using ShowJson = nlohmann::ordered_json;

constexpr std::size_t kAnyDepth = 1000;

std::uint64_t stored_bytes(const SnapshotTensors& tensors, const WholeTensor& tensor) {
  std::uint64_t sum = 0;
  for (const std::size_t held : tensor.held) sum += tensors.snapshot().stored_piece(held).size_bytes;
  return sum;
}

bool is_compressed(const SnapshotTensors& tensors, const WholeTensor& tensor) {
  return std::any_of(tensor.held.begin(), tensor.held.end(), [&](std::size_t held) {
    return tensors.snapshot().stored_piece(held).encoding != checkpoint::Encoding::kPlain;
  });
}

observe::Table flat_table(const SnapshotTensors& tensors) {
  observe::Table table({"tensor", "type", "size", "stored", "file"});
  for (const WholeTensor& tensor : tensors.all()) {
    table.add({{tensor.name, Colour::kBold},
               {type_text(tensor.dtype, tensor.shape)},
               {format_bytes(tensor.size_bytes())},
               {fmt::format("{}{}", format_bytes(stored_bytes(tensors, tensor)),
                            is_compressed(tensors, tensor) ? " (zstd)" : "")},
               {files_text(tensors, tensor)}});
  }
  return table;
}

ShowJson tensors_json(const SnapshotTensors& tensors) {
  ShowJson list = ShowJson::array();
  for (const WholeTensor& tensor : tensors.all()) {
    list.push_back({{"name", tensor.name},
                    {"dtype", name(tensor.dtype)},
                    {"shape", tensor.shape},
                    {"bytes", tensor.size_bytes()},
                    {"stored_bytes", stored_bytes(tensors, tensor)},
                    {"files", files_of(tensors, tensor)}});
  }
  return list;
}

std::string sum_text(const SnapshotTensors& tensors) {
  std::uint64_t counts[2]{}, bytes[2]{}, elements = 0;
  for (const WholeTensor& tensor : tensors.all()) {
    const bool is_of_model = checkpoint::is_of_model(tensor.name);
    ++counts[is_of_model ? 0 : 1];
    bytes[is_of_model ? 0 : 1] += tensor.size_bytes();
    if (is_of_model) elements += tensor.num_elements();
  }
  return fmt::format("{} of the model with {} elements, {}; {} of the optimizer, {}\n",
                     counted(counts[0], "tensor"), elements, format_bytes(bytes[0]), counts[1],
                     format_bytes(bytes[1]));
}

/// `cohort checkpoint show SNAPSHOT`: the facts and the tensors of a snapshot.
class CheckpointShowCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"checkpoint", "show"}; }
  std::string summary() const override {
    return "Show the facts of a snapshot and its tensors as a tree of modules";
  }
  void add_options(CLI::App& app) override {
    app.add_option("snapshot", path_, "A snapshot; of a run or a folder of snapshots, the newest")
        ->required();
    app.add_option("--depth", depth_, "Show modules down to this depth only")
        ->type_name("N")
        ->check(CLI::Range(std::size_t{1}, kAnyDepth));
    app.add_flag("--tensors", flat_, "All tensors as one list instead of a tree");
    app.add_flag("--config", config_,
                 "Print the job file with which the snapshot was written, and nothing else");
    app.add_flag("--json", json_, "One JSON object");
  }

  Result<ExitCode> run(Session& session) override {
    LocalFileSystem files;
    COHORT_ASSIGN_OR_RETURN(const FoundSnapshot found, find_snapshot(files, path_));
    COHORT_ASSIGN_OR_RETURN(const auto snapshot, Snapshot::open(files, found.folder, found.name));
    if (config_) return print_config(session, *snapshot);
    const SnapshotTensors tensors(*snapshot);
    session.out << (json_ ? observe::json_text(json(found, tensors)) : text(session, found, tensors));
    return ExitCode::kDone;
  }

 private:
  static Result<ExitCode> print_config(const Session& session, const Snapshot& snapshot) {
    const std::string& config = snapshot.manifest().course.config;
    if (config.empty()) {
      return Error(ErrorCode::kUsage, fmt::format("the snapshot '{}' has no job file", snapshot.name()))
          .with_remedy("Only `cohort train` writes its job file into snapshots.");
    }
    session.out << config;
    return ExitCode::kDone;
  }

  std::string text(const Session& session, const FoundSnapshot& found, const SnapshotTensors& tensors) const {
    observe::Table facts({"snapshot", storage::joined(found.folder, found.name)});
    for (const auto& [name, value] : facts_of(tensors.snapshot().manifest())) {
      facts.add({{name, Colour::kBold}, {value}});
    }
    const observe::Table list = flat_ ? flat_table(tensors) : TensorTree(tensors).table(depth_);
    return fmt::format("{}\n{}\n{}", facts.text(session.screen()), list.text(session.screen()),
                       sum_text(tensors));
  }

  static ShowJson json(const FoundSnapshot& found, const SnapshotTensors& tensors) {
    const checkpoint::Manifest& manifest = tensors.snapshot().manifest();
    ShowJson object{{"folder", found.folder}, {"name", found.name}};
    object.update(facts_json(manifest));
    object["files"] = ShowJson::array();
    for (const checkpoint::Shard& shard : manifest.shards) {
      object["files"].push_back({{"name", shard.file}, {"bytes", shard.size_bytes}});
    }
    object["tensors"] = tensors_json(tensors);
    return object;
  }

  std::string path_;
  std::size_t depth_ = kAnyDepth;
  bool flat_ = false;
  bool config_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_checkpoint_show_command() {
  return std::make_unique<CheckpointShowCommand>();
}

}  // namespace cohort::tool
