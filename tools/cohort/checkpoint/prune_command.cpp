#include "base/units.h"
#include "checkpoint/find_snapshots.h"
#include "checkpoint/retention.h"
#include "checkpoint/snapshot.h"
#include "checkpoint/snapshot_facts.h"
#include "checkpoint/snapshot_folder.h"
#include "commands.h"
#include "observe/json_text.h"
#include "observe/table.h"
#include "storage/local_file_system.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using PruneJson = nlohmann::ordered_json;

/// The snapshots of a folder as the rules see them.
struct Pruning {
  std::vector<checkpoint::Kept> present{};
  std::map<std::string, std::uint64_t> sizes{};  // by name
  std::vector<std::string> unreadable{};
  std::vector<std::string> removed{};  // the newest first: a difference goes before its base
  std::uint64_t freed_bytes = 0;
};

// A snapshot that cannot be read does not count as one of those that are kept: the rules might keep nothing
// else.
Pruning plan_pruning(FileSystem& files, const FoundSnapshots& found, const checkpoint::Retention& retention) {
  Pruning pruning;
  for (const std::string& name : found.names) {
    const auto snapshot = checkpoint::Snapshot::open(files, found.folder, name);
    if (!snapshot) {
      pruning.unreadable.push_back(name);
      continue;
    }
    const checkpoint::Manifest& manifest = (*snapshot)->manifest();
    pruning.sizes[name] = size_bytes(manifest);
    pruning.present.push_back({.name = name,
                               .step = *checkpoint::step_of(name),
                               .loss = manifest.course.loss,
                               .base = manifest.base});
  }
  pruning.removed = checkpoint::expendable(pruning.present, retention);
  std::sort(pruning.removed.rbegin(), pruning.removed.rend());
  for (const std::string& name : pruning.removed) pruning.freed_bytes += pruning.sizes[name];
  return pruning;
}

/// `cohort checkpoint prune DIR`: removes snapshots that no rule keeps.
class CheckpointPruneCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"checkpoint", "prune"}; }
  std::string summary() const override {
    return "Remove snapshots, except for the newest, the best and their bases";
  }
  void add_options(CLI::App& app) override {
    app.add_option("folder", path_, "The folder of a run, or a folder of snapshots")->required();
    app.add_option("--keep-last", retention_.last, "Keep this many of the newest snapshots; 3 by default")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--keep-best", retention_.best,
                   "Keep this many of the snapshots with the lowest loss; 1 by default")
        ->type_name("K")
        ->check(CLI::Range(0, 1'000'000));
    app.add_option("--keep-every", every_, "Keep all snapshots whose step is a multiple of this")
        ->type_name("STEPS")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 62));
    app.add_flag("--dry-run", is_dry_, "Remove nothing, only tell which snapshots would be removed");
    app.add_flag("--json", json_, "One JSON object");
  }

  Result<ExitCode> run(Session& session) override {
    LocalFileSystem files;
    COHORT_ASSIGN_OR_RETURN(const FoundSnapshots found, find_snapshots(files, path_));
    if (found.is_one) {
      return Error(ErrorCode::kUsage,
                   fmt::format("'{}' is one snapshot, expected a folder of snapshots", path_))
          .with_remedy(fmt::format("Name the folder: {}.", found.folder));
    }
    if (every_ > 0) retention_.every = every_;
    const Pruning pruning = plan_pruning(files, found, retention_);
    for (const std::string& name : pruning.removed) {
      if (!is_dry_) COHORT_RETURN_IF_ERROR(checkpoint::remove_snapshot(files, found.folder, name));
    }
    session.out << (json_ ? observe::json_text(json(found, pruning)) : text(session, found, pruning));
    return ExitCode::kDone;
  }

 private:
  std::string text(const Session& session, const FoundSnapshots& found, const Pruning& pruning) const {
    std::string text;
    if (!pruning.removed.empty()) {
      observe::Table table({is_dry_ ? "would be removed" : "removed", "size"});
      for (const std::string& name : pruning.removed) {
        table.add({{name, Colour::kBold}, {format_bytes(pruning.sizes.at(name))}});
      }
      text = table.text(session.screen()) + "\n";
    }
    for (const std::string& name : pruning.unreadable) {
      text += fmt::format("{} cannot be read and is left alone; `cohort checkpoint list` tells why.\n", name);
    }
    const std::size_t num_kept = found.names.size() - pruning.removed.size();
    return text + fmt::format("{} {}, {} freed; {} of {} kept in {}\n",
                              counted(pruning.removed.size(), "snapshot"),
                              is_dry_ ? "would be removed" : "removed", format_bytes(pruning.freed_bytes),
                              num_kept, found.names.size(), found.folder);
  }

  PruneJson json(const FoundSnapshots& found, const Pruning& pruning) const {
    PruneJson kept = PruneJson::array();
    for (const std::string& name : found.names) {
      if (std::count(pruning.removed.begin(), pruning.removed.end(), name) == 0) kept.push_back(name);
    }
    return {{"folder", found.folder},
            {"dry_run", is_dry_},
            {"removed", pruning.removed},
            {"freed_bytes", pruning.freed_bytes},
            {"kept", kept},
            {"unreadable", pruning.unreadable}};
  }

  std::string path_;
  checkpoint::Retention retention_;
  std::int64_t every_ = 0;
  bool is_dry_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_checkpoint_prune_command() {
  return std::make_unique<CheckpointPruneCommand>();
}

}  // namespace cohort::tool
