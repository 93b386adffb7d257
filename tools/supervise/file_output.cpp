#include "supervise/rank_output.h"

#include "base/descriptor.h"
#include "base/system_error.h"
#include "supervise/writer.h"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace cohort::supervise {
namespace {

class OutputFile {
 public:
  static Result<OutputFile> make(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file.is_open()) return system_error(fmt::format("cannot open '{}' for writing", path), errno);
    COHORT_ASSIGN_OR_RETURN(Writer writer, Writer::make(file.number(), fmt::format("'{}'", path)));
    return OutputFile(std::move(file), std::move(writer));
  }
  Writer& writer() { return writer_; }

 private:
  OutputFile(Descriptor file, Writer writer) : file_(std::move(file)), writer_(std::move(writer)) {}

  Descriptor file_;
  Writer writer_;
};

class FileOutput final : public RankOutput {
 public:
  FileOutput(std::vector<OutputFile> outputs, std::vector<OutputFile> error_outputs)
      : outputs_(std::move(outputs)), error_outputs_(std::move(error_outputs)) {}

  Status take(int rank, Stream stream, std::string_view piece) override {
    auto& files = stream == Stream::kOutput ? outputs_ : error_outputs_;
    return files.at(static_cast<std::size_t>(rank)).writer().write(piece);
  }
  Status finish(int) override { return {}; }
  void give_up() override {
    for (OutputFile& file : outputs_) file.writer().give_up();
    for (OutputFile& file : error_outputs_) file.writer().give_up();
  }

 private:
  std::vector<OutputFile> outputs_;
  std::vector<OutputFile> error_outputs_;
};

}  // namespace

Result<std::unique_ptr<RankOutput>> make_file_output(const std::string& folder, int ranks) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return system_error(fmt::format("cannot create the folder '{}'", folder), failure.value());
  std::vector<OutputFile> outputs;
  std::vector<OutputFile> error_outputs;
  for (int rank = 0; rank < ranks; ++rank) {
    COHORT_ASSIGN_OR_RETURN(OutputFile output, OutputFile::make(fmt::format("{}/rank-{}.out", folder, rank)));
    COHORT_ASSIGN_OR_RETURN(OutputFile error_output,
                            OutputFile::make(fmt::format("{}/rank-{}.err", folder, rank)));
    outputs.push_back(std::move(output));
    error_outputs.push_back(std::move(error_output));
  }
  return std::unique_ptr<RankOutput>(
      std::make_unique<FileOutput>(std::move(outputs), std::move(error_outputs)));
}

}  // namespace cohort::supervise
