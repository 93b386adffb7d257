#include "base/units.h"
#include "checkpoint/byte_progress.h"
#include "checkpoint/convert_source.h"
#include "checkpoint/export.h"
#include "checkpoint/export_torch.h"
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
    {"torch", nullptr, false,
     [](const Export& to, const ConvertOrder& order) { return export_torch(to, order.tensors); }},
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

std::vector<std::string> source_names() {
  return {"cohort", "torch", "dcp"};
}

/// `cohort checkpoint convert SNAPSHOT OUT --to FORMAT`: a snapshot for other programs, or files of PyTorch
/// for Cohort.
class CheckpointConvertCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"checkpoint", "convert"}; }
  std::string summary() const override { return "Write a snapshot, or a file of PyTorch, in another format"; }
  std::vector<std::string> candidates(const std::string& option) const override {
    if (option == "--to") return format_names();
    if (option == "--from") return source_names();
    return option == "--with" ? std::vector<std::string>{"optimizer"} : std::vector<std::string>{};
  }
  void add_options(CLI::App& app) override {
    app.add_option("source", source_.path,
                   "A snapshot (of a run or a folder, the newest), a file of torch.save(), or a directory of "
                   "torch.distributed.checkpoint")
        ->required();
    app.add_option("out", out_,
                   "The file or folder to write; for cohort, a folder of snapshots such as runs/mine")
        ->required();
    app.add_option(
           "--to", to_,
           "safetensors and torch: one file; huggingface: a folder; cohort: a full snapshot of one rank")
        ->type_name("FORMAT")
        ->required()
        ->check(CLI::IsMember(format_names()));
    add_source_options(app);
    app.add_option("--with", with_,
                   "Also write the state of the optimizer; a snapshot converted to cohort always keeps it")
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
    source_.has_optimizer = !with_.empty();
    COHORT_ASSIGN_OR_RETURN(const auto source, ConvertSource::open(files, source_));
    const bool has_all = format.has_all || source_.has_optimizer;
    const auto part = has_all ? checkpoint::Part::kAll : checkpoint::Part::kModel;
    const TensorList list = tensors_of(source->tensors(), part);
    ByteProgress progress("convert", size_bytes(list));
    COHORT_RETURN_IF_ERROR(
        as_usage(format.write({.from = source->tensors(),
                               .course = source->course(),
                               .files = files,
                               .path = out_,
                               .report = [&](std::uint64_t bytes) { progress.add(bytes); }},
                              {.tensors = list, .shard_bytes = shard_bytes})));
    session.out << summary_of(*source, list);
    return ExitCode::kDone;
  }

 private:
  void add_source_options(CLI::App& app) {
    app.add_option("--from", source_.format, "The format of the source; by default told from its files")
        ->type_name("FORMAT")
        ->check(CLI::IsMember(source_names()));
    app.add_option("--rename", source_.rules,
                   "Rename tensors: 'module.* -> *' takes a prefix away; several rules, of which the first "
                   "that matches counts")
        ->type_name("RULE")
        ->allow_extra_args(false);
  }

  Result<std::uint64_t> shard_bytes_of(const TargetFormat& format) const {
    if (format.shard_size == nullptr && !shard_size_.empty()) {
      return Error(ErrorCode::kUsage,
                   fmt::format("--shard-size is not for --to {}, which writes one file", to_))
          .with_remedy("Leave it out, or use --to huggingface.");
    }
    if (format.shard_size == nullptr) return 0;
    return parse_bytes(shard_size_.empty() ? format.shard_size : shard_size_).within("--shard-size");
  }

  std::string summary_of(const ConvertSource& source, const TensorList& list) const {
    if (json_) {
      auto rules = nlohmann::ordered_json::array();
      for (const RuleUse& each : source.rules())
        rules.push_back({{"rule", each.rule}, {"tensors", each.num_tensors}});
      return observe::json_text({{"source", source.name()},
                                 {"out", out_},
                                 {"to", to_},
                                 {"tensors", list.size()},
                                 {"bytes", size_bytes(list)},
                                 {"rules", rules}});
    }
    std::string text;
    for (const RuleUse& each : source.rules()) {
      text += fmt::format(
          "{}: {}\n", each.rule,
          each.num_tensors == 0 ? "no tensor has such a name" : counted(each.num_tensors, "tensor"));
    }
    return text + fmt::format("{}: {} of {}, {}\n", out_, counted(list.size(), "tensor"), source.name(),
                              format_bytes(size_bytes(list)));
  }

  SourceOrder source_;
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
