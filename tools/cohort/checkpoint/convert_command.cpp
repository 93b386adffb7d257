#include "base/units.h"
#include "checkpoint/byte_progress.h"
#include "checkpoint/export.h"
#include "checkpoint/find_snapshots.h"
#include "checkpoint/snapshot_facts.h"
#include "commands.h"
#include "observe/json_text.h"
#include "storage/local_file_system.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using checkpoint::Export;
using checkpoint::TensorList;
using checkpoint::WholeTensors;

/// The tensors to write, and the most bytes of a file.
struct ConvertOrder {
  TensorList tensors{};
  std::uint64_t shard_bytes = 0;
};

/// A format that snapshots are converted to.
struct TargetFormat {
  const char* name;
  const char* shard_size;  // by default; null: one file
  bool has_all;            // tensors: those of the optimizer are always written, too
  Status (*write)(const Export& to, const ConvertOrder& order);
};

constexpr TargetFormat kTargetFormats[] = {
    {"safetensors", nullptr, false,
     [](const Export& to, const ConvertOrder& order) { return export_safetensors(to, order.tensors); }},
    {"huggingface", "5 GB", false,
     [](const Export& to, const ConvertOrder& order) {
       return export_huggingface(to, order.tensors, order.shard_bytes);
     }},
    {"cohort", "1 GB", true,
     [](const Export& to, const ConvertOrder& order) { return export_snapshot(to, order.shard_bytes); }},
};

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const TargetFormat& format : kTargetFormats) names.emplace_back(format.name);
  return names;
}

// A path that is taken is a mistake of the user here.
Status as_usage(const Status& written) {
  if (written || written.error().code() != ErrorCode::kAlreadyExists) return written;
  return Error(ErrorCode::kUsage, written.error().message()).with_remedy(written.error().remedy());
}

/// `cohort checkpoint convert SNAPSHOT OUT --to FORMAT`: a snapshot for other programs.
class CheckpointConvertCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"checkpoint", "convert"}; }
  std::string summary() const override {
    return "Write a snapshot as one safetensors file, as Hugging Face files, or as a full snapshot of one "
           "rank";
  }
  std::vector<std::string> candidates(const std::string& option) const override {
    if (option == "--to") return format_names();
    return option == "--with" ? std::vector<std::string>{"optimizer"} : std::vector<std::string>{};
  }
  void add_options(CLI::App& app) override {
    app.add_option("snapshot", path_, "A snapshot; of a run or a folder of snapshots, the newest")
        ->required();
    app.add_option(
           "out", out_,
           "The file (safetensors) or folder to write; for cohort, a folder of snapshots such as runs/mine")
        ->required();
    app.add_option("--to", to_, "safetensors, huggingface or cohort")
        ->type_name("FORMAT")
        ->required()
        ->check(CLI::IsMember(format_names()));
    app.add_option("--with", with_, "Also write the state of the optimizer; cohort always has it")
        ->type_name("PART")
        ->check(CLI::IsMember({"optimizer"}));
    app.add_option("--shard-size", shard_size_,
                   "The most bytes of a file, as in 500 MB; 5 GB by default, for cohort 1 GB, which it needs "
                   "as memory")
        ->type_name("SIZE");
    app.add_flag("--json", json_, "One JSON object");
  }

  Result<ExitCode> run(Session& session) override {
    const TargetFormat& format = *std::find_if(std::begin(kTargetFormats), std::end(kTargetFormats),
                                               [&](const TargetFormat& each) { return each.name == to_; });
    COHORT_ASSIGN_OR_RETURN(const std::uint64_t shard_bytes, shard_bytes_of(format));
    LocalFileSystem files;
    COHORT_ASSIGN_OR_RETURN(const FoundSnapshot found, find_snapshot(files, path_));
    COHORT_ASSIGN_OR_RETURN(const auto snapshot, checkpoint::Snapshot::open(files, found.folder, found.name));
    const WholeTensors tensors(*snapshot);
    const bool has_all = format.has_all || !with_.empty();
    const TensorList list = tensors_of(tensors, has_all ? checkpoint::Part::kAll : checkpoint::Part::kModel);
    ByteProgress progress("convert", size_bytes(list));
    COHORT_RETURN_IF_ERROR(
        as_usage(format.write({.from = tensors,
                               .files = files,
                               .path = out_,
                               .report = [&](std::uint64_t bytes) { progress.add(bytes); }},
                              {.tensors = list, .shard_bytes = shard_bytes})));
    session.out << summary_of(found, list);
    return ExitCode::kDone;
  }

 private:
  Result<std::uint64_t> shard_bytes_of(const TargetFormat& format) const {
    if (format.shard_size == nullptr && !shard_size_.empty()) {
      return Error(ErrorCode::kUsage,
                   fmt::format("--shard-size is not for --to {}, which writes one file", to_))
          .with_remedy("Leave it out, or use --to huggingface.");
    }
    if (format.shard_size == nullptr) return 0;
    return parse_bytes(shard_size_.empty() ? format.shard_size : shard_size_).within("--shard-size");
  }

  std::string summary_of(const FoundSnapshot& found, const TensorList& list) const {
    if (json_) {
      return observe::json_text({{"folder", found.folder},
                                 {"name", found.name},
                                 {"out", out_},
                                 {"to", to_},
                                 {"tensors", list.size()},
                                 {"bytes", size_bytes(list)}});
    }
    return fmt::format("{}: {} of {}, {}\n", out_, counted(list.size(), "tensor"), found.name,
                       format_bytes(size_bytes(list)));
  }

  std::string path_;
  std::string out_;
  std::string to_;
  std::string with_;
  std::string shard_size_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_checkpoint_convert_command() {
  return std::make_unique<CheckpointConvertCommand>();
}

}  // namespace cohort::tool
