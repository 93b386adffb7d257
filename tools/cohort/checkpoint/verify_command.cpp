#include "base/units.h"
#include "checkpoint/byte_progress.h"
#include "checkpoint/find_snapshots.h"
#include "checkpoint/snapshot_facts.h"
#include "checkpoint/snapshot_folder.h"
#include "checkpoint/verify.h"
#include "commands.h"
#include "observe/json_text.h"
#include "storage/local_file_system.h"
#include "storage/path.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace cohort::tool {
namespace {

using checkpoint::Damage;
using VerifyJson = nlohmann::ordered_json;

/// A snapshot, and what is wrong with it.
struct VerifiedSnapshot {
  std::string name{};
  std::vector<Damage> damaged{};
};

// The number for these snapshots and for the bases that they need.
std::uint64_t bytes_to_read(FileSystem& files, const FoundSnapshots& found) {
  std::set<std::string> names(found.names.begin(), found.names.end());
  std::uint64_t sum = 0;
  const auto add = [&](const std::string& name) -> std::string {
    const auto manifest = checkpoint::read_manifest(files, storage::joined(found.folder, name));
    if (!manifest) return "";
    sum += size_bytes(*manifest);
    return manifest->base;
  };
  for (const std::string& name : found.names) {
    const std::string base = add(name);
    if (!base.empty() && names.insert(base).second) add(base);
  }
  return sum;
}

/// `cohort checkpoint verify PATH`: reads all bytes of snapshots and compares them with their hashes.
class CheckpointVerifyCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"checkpoint", "verify"}; }
  std::string summary() const override {
    return "Read all bytes of snapshots and name every damaged file and tensor";
  }
  void add_options(CLI::App& app) override {
    app.add_option("path", path_, "A snapshot, a folder of snapshots, or the folder of a run")->required();
    app.add_flag("--json", json_, "One JSON object");
  }

  Result<ExitCode> run(Session& session) override {
    LocalFileSystem files;
    COHORT_ASSIGN_OR_RETURN(const FoundSnapshots found, find_snapshots(files, path_));
    const std::vector<VerifiedSnapshot> verified = verify(files, found);
    const bool is_fine = std::all_of(verified.begin(), verified.end(),
                                     [](const VerifiedSnapshot& each) { return each.damaged.empty(); });
    session.out << (json_ ? observe::json_text(json(found, verified)) : text(session, found, verified));
    return is_fine ? ExitCode::kDone : ExitCode::kFailed;
  }

 private:
  static std::vector<VerifiedSnapshot> verify(FileSystem& files, const FoundSnapshots& found) {
    ByteProgress progress("verify", bytes_to_read(files, found));
    checkpoint::Verifier verifier(files, found.folder, [&](std::uint64_t bytes) { progress.add(bytes); });
    std::vector<VerifiedSnapshot> verified;
    for (const std::string& name : found.names) verified.push_back({name, verifier.verify(name)});
    return verified;
  }

  static std::string text(const Session& session, const FoundSnapshots& found,
                          const std::vector<VerifiedSnapshot>& verified) {
    std::string text;
    std::size_t num_damaged = 0;
    for (const VerifiedSnapshot& each : verified) {
      num_damaged += each.damaged.empty() ? 0 : 1;
      const bool is_fine = each.damaged.empty();
      text +=
          fmt::format("{}  {}\n", session.coloured(each.name, Colour::kBold),
                      session.coloured(is_fine ? "ok" : "damaged", is_fine ? Colour::kGreen : Colour::kRed));
      for (const Damage& damage : each.damaged) {
        const std::string tensor = damage.tensor.empty() ? "" : fmt::format(", tensor '{}'", damage.tensor);
        text += fmt::format("  {}{}: {}\n", damage.file, tensor, damage.reason);
      }
    }
    if (num_damaged == 0)
      return fmt::format("{}\nAll bytes in {} are as they were written.\n", text, found.folder);
    return fmt::format("{}\n{} of {} in {} {} damaged.\n", text, num_damaged,
                       counted(verified.size(), "snapshot"), found.folder, num_damaged == 1 ? "is" : "are");
  }

  static VerifyJson json(const FoundSnapshots& found, const std::vector<VerifiedSnapshot>& verified) {
    VerifyJson snapshots = VerifyJson::array();
    for (const VerifiedSnapshot& each : verified) {
      VerifyJson damaged = VerifyJson::array();
      for (const Damage& damage : each.damaged) {
        damaged.push_back({{"file", damage.file}, {"tensor", damage.tensor}, {"reason", damage.reason}});
      }
      const auto step = checkpoint::step_of(each.name);
      snapshots.push_back({{"name", each.name},
                           {"step", step ? VerifyJson(*step) : VerifyJson()},
                           {"ok", each.damaged.empty()},
                           {"damaged", damaged}});
    }
    return {{"folder", found.folder}, {"snapshots", snapshots}};
  }

  std::string path_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_checkpoint_verify_command() {
  return std::make_unique<CheckpointVerifyCommand>();
}

}  // namespace cohort::tool
