#include "base/units.h"
#include "checkpoint/find_snapshots.h"
#include "checkpoint/snapshot.h"
#include "checkpoint/snapshot_facts.h"
#include "checkpoint/snapshot_folder.h"
#include "commands.h"
#include "observe/json_text.h"
#include "observe/table.h"
#include "storage/local_file_system.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using checkpoint::Manifest;
using ListJson = nlohmann::ordered_json;

/// A line of the table.
struct ListedSnapshot {
  std::string name{};
  Manifest manifest{};  // without shards
  std::size_t num_files = 0;
  std::uint64_t size_bytes = 0;
  std::string damage{};  // empty: it can be read
};

ListedSnapshot listed(FileSystem& files, const std::string& folder, const std::string& name) {
  const auto snapshot = checkpoint::Snapshot::open(files, folder, name);
  if (!snapshot) return {.name = name, .damage = snapshot.error().root().message()};
  const Manifest& manifest = (*snapshot)->manifest();
  ListedSnapshot line{.name = name,
                      .manifest = manifest,
                      .num_files = manifest.shards.size(),
                      .size_bytes = size_bytes(manifest)};
  line.manifest.shards.clear();
  return line;
}

/// `cohort checkpoint list DIR`: the snapshots of a run.
class CheckpointListCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"checkpoint", "list"}; }
  std::string summary() const override {
    return "List the snapshots of a run, the newest and the best one marked";
  }
  void add_options(CLI::App& app) override {
    app.add_option("folder", path_, "The folder of a run, or a folder of snapshots")->required();
    app.add_flag("--json", json_, "One JSON object");
  }

  Result<ExitCode> run(Session& session) override {
    LocalFileSystem files;
    COHORT_ASSIGN_OR_RETURN(const FoundSnapshots found, find_snapshots(files, path_));
    for (const std::string& name : found.names) lines_.push_back(listed(files, found.folder, name));
    if (!found.is_one) mark();
    session.out << (json_ ? observe::json_text(json(found.folder)) : text(session, found.folder));
    return ExitCode::kDone;
  }

 private:
  // The newest that can be read, and the one with the lowest loss; the older one of two.
  void mark() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!lines_[i].damage.empty()) continue;
      newest_ = i;
      const auto loss = lines_[i].manifest.course.loss;
      if (loss && std::isfinite(*loss) && (!best_ || *loss < *lines_[*best_].manifest.course.loss)) best_ = i;
    }
  }

  std::string marks(std::size_t line) const {
    if (line == newest_ && line == best_) return "newest, best";
    return line == newest_ ? "newest" : line == best_ ? "best" : "";
  }

  static std::vector<observe::Cell> cells(const ListedSnapshot& line, const std::string& marks) {
    const observe::Cell name{line.name, Colour::kBold};
    if (!line.damage.empty()) {
      return {name,  {"-"}, {"-"},
              {"-"}, {"-"}, {"-"},
              {"-"}, {"-"}, {"unreadable: " + line.damage, Colour::kRed}};
    }
    const checkpoint::Course& course = line.manifest.course;
    return {name,
            {date_text(course.taken_at)},
            {std::to_string(course.position.epoch)},
            {number_text(course.loss)},
            {kind_text(line.manifest)},
            {std::to_string(line.manifest.ranks)},
            {std::to_string(line.num_files)},
            {format_bytes(line.size_bytes)},
            {marks, Colour::kGreen}};
  }

  std::string text(const Session& session, const std::string& folder) const {
    observe::Table table({"snapshot", "taken", "epoch", "loss", "kind", "ranks", "files", "size", ""});
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const ListedSnapshot& line = lines_[i];
      sum += line.size_bytes;
      table.add(cells(line, marks(i)));
    }
    return fmt::format("{}\n{} in {}, {}\n", table.text(session.screen()), counted(lines_.size(), "snapshot"),
                       folder, format_bytes(sum));
  }

  ListJson json(const std::string& folder) const {
    ListJson snapshots = ListJson::array();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const ListedSnapshot& line = lines_[i];
      ListJson entry{{"name", line.name}, {"readable", line.damage.empty()}};
      if (!line.damage.empty()) {
        entry["reason"] = line.damage;
      } else {
        entry.update({{"step", line.manifest.course.position.step},
                      {"epoch", line.manifest.course.position.epoch},
                      {"taken_at",
                       line.manifest.course.taken_at ? ListJson(*line.manifest.course.taken_at) : ListJson()},
                      {"loss", number_json(line.manifest.course.loss)},
                      {"kind", line.manifest.base.empty() ? "full" : "difference"},
                      {"base", line.manifest.base},
                      {"ranks", line.manifest.ranks},
                      {"files", line.num_files},
                      {"bytes", line.size_bytes},
                      {"newest", newest_ == i},
                      {"best", best_ == i}});
      }
      snapshots.push_back(std::move(entry));
    }
    return {{"folder", folder}, {"snapshots", snapshots}};
  }

  std::string path_;
  bool json_ = false;
  std::vector<ListedSnapshot> lines_;
  std::optional<std::size_t> newest_;
  std::optional<std::size_t> best_;
};

}  // namespace

std::unique_ptr<Command> make_checkpoint_list_command() {
  return std::make_unique<CheckpointListCommand>();
}

}  // namespace cohort::tool
