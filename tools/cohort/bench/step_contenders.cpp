#include "bench/step_contenders.h"

#include "bench/peer_scripts.h"
#include "run_job.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "supervise/rank_variables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <string_view>

namespace cohort::tool {
namespace {

constexpr std::chrono::seconds kStartLimit{120};
const std::string kMomentum = "0.9";

// The model `many`: two small tensors per layer.
constexpr int kManyLayers = 3000;
constexpr int kManyWidth = 8;

// `[8, 8, 8]`
std::string hidden_text(int layers, int width) {
  return fmt::format("[{}]", fmt::join(std::vector<int>(static_cast<std::size_t>(layers), width), ", "));
}

bool is_bf16(const std::string& contender) {
  return contender.ends_with(kBf16Suffix);
}

// The contender that computes in f32.
std::string without_precision(const std::string& contender) {
  return is_bf16(contender) ? contender.substr(0, contender.size() - std::string_view(kBf16Suffix).size())
                            : contender;
}

std::string way_of(const std::string& given) {
  const std::string contender = without_precision(given);
  for (const char* trainer : {kOurs, kOursAlone, kTrainerWithoutUpdate, kTrainerSynchronised}) {
    if (contender == trainer) return "trainer";
  }
  return contender == kOursApart ? "apart" : contender;
}

std::vector<std::string> ours_line(const std::string& contender, const StepCell& cell,
                                   const Session& session) {
  const bool updates = contender != kTrainerWithoutUpdate;
  return {trainer_program(session),
          "--bench-step",
          cell.model.name,
          "--group",
          contender,
          "--way",
          way_of(contender),
          "--precision",
          is_bf16(contender) ? "bf16" : "f32",
          "--batch",
          std::to_string(cell.batch),
          "--batch-norm",
          without_precision(contender) == kTrainerSynchronised ? "synchronised" : "local",
          "--optimizer",
          updates ? cell.model.optimizer : "sgd",
          "--momentum",
          updates ? kMomentum : "0",
          "--learning-rate",
          updates ? fmt::format("{}", cell.model.learning_rate) : "0"};
}

Result<GroupStart> ours(const std::string& contender, const StepCell& cell, const Session& session) {
  const int ranks = contender == kOursAlone ? 1 : cell.ranks;
  GroupStart start{.name = contender, .ranks = ranks, .remedy = kTrainerRemedy, .limit = kStartLimit};
  COHORT_ASSIGN_OR_RETURN(const std::string rendezvous, supervise::fresh_rendezvous());
  for (int rank = 0; rank < ranks; ++rank) {
    start.members.push_back({.argv = ours_line(contender, cell, session),
                             .environment = supervise::rank_variables({.rank = rank,
                                                                       .world = ranks,
                                                                       .local_rank = rank,
                                                                       .local_size = ranks,
                                                                       .rendezvous = rendezvous})});
  }
  return start;
}

Result<GroupStart> torch(const std::string& contender, const StepCell& cell, const StepPeers& peers,
                         const std::string& folder) {
  COHORT_RETURN_IF_ERROR(write_peer_scripts(folder));
  const int ranks = without_precision(contender) == kTorchAlone ? 1 : cell.ranks;
  GroupStart start{.name = contender, .ranks = ranks, .remedy = kPeerSetUp, .limit = kStartLimit};
  std::vector<std::string> line{peer_python(peers.python), folder + "/torch_step.py", "--serve", contender};
  const std::vector<std::string> told = torch_step_arguments(cell, peers);
  line.insert(line.end(), told.begin(), told.end());
  if (is_bf16(contender)) line.insert(line.end(), {"--precision", "bf16"});
  if (without_precision(contender) == kTorchDdp) {
    const std::string meeting = fmt::format("{}/{}-{}-{}", folder, contender, cell.model.name, cell.batch);
    line.insert(line.end(), {"--ddp", "--meeting", meeting});
  }
  for (int rank = 0; rank < ranks; ++rank) {
    start.members.push_back(
        {.argv = line,
         .environment = {{"RANK", std::to_string(rank)}, {"WORLD_SIZE", std::to_string(ranks)}}});
  }
  return start;
}

}  // namespace

std::vector<StepModel> step_models() {
  return {{.name = "mlp",
           .batches = {64, 8},
           .optimizer = "sgd",
           .learning_rate = 0.001,
           .job = "[data]\nkind = \"digits\"\n[model]\nkind = \"mlp\"\nhidden = [3200, 3200, 3200]\n"},
          {.name = "gpt",
           .batches = {4},
           .optimizer = "adamw",
           .learning_rate = 0.0001,
           .job = "[data]\nkind = \"markov\"\nclasses = 65\ncontext = 256\n"
                  "[model]\nkind = \"gpt\"\nlayers = 6\nwidth = 384\nheads = 6\ndropout = 0.0\n"},
          {.name = "resnet18",
           .batches = {32},
           .optimizer = "adamw",
           .learning_rate = 0.0001,
           .job = "[data]\nkind = \"digits\"\nimage_size = 32\n[model]\nkind = \"resnet18\"\n",
           .spec = R"({"input_shape": [1, 32, 32]})"},
          {.name = "wide",
           .batches = {8},
           .optimizer = "sgd",
           .learning_rate = 0.001,
           .job = "[data]\nkind = \"digits\"\nimage_size = 90\n[model]\nkind = \"mlp\"\nhidden = [8000]\n",
           .spec = R"({"hidden": [8000], "input_shape": [8100], "classes": 10})"},
          {.name = "many",
           .batches = {8},
           .optimizer = "sgd",
           .learning_rate = 0.001,
           .job = "[data]\nkind = \"digits\"\nimage_size = 8\n[model]\nkind = \"mlp\"\nhidden = " +
                  hidden_text(kManyLayers - 1, kManyWidth) + "\n",
           .spec = fmt::format(R"({{"hidden": {}, "input_shape": [64], "classes": 10}})",
                               hidden_text(kManyLayers - 1, kManyWidth))},
          {.name = "tiny",
           .batches = {5},
           .optimizer = "sgd",
           .learning_rate = 0.001,
           .job = "[data]\nkind = \"digits\"\nimage_size = 8\n[model]\nkind = \"mlp\"\nhidden = [31, 17]\n",
           .spec = R"({"input_shape": [64], "classes": 10})"}};
}

std::vector<std::string> step_ways() {
  return {kTrainerSynchronised, kDataParallel, kTrainerWithoutUpdate, kDataParallelWithoutUpdate,
          kLoopWithoutUpdate};
}

std::vector<std::string> torch_step_arguments(const StepCell& cell, const StepPeers& peers) {
  std::vector<std::string> arguments{"--model",     cell.model.name,
                                     "--batch",     std::to_string(cell.batch),
                                     "--optimizer", cell.model.optimizer,
                                     "--momentum",  kMomentum,
                                     "--lr",        fmt::format("{}", cell.model.learning_rate)};
  if (peers.channels_last) arguments.emplace_back("--channels-last");
  return arguments;
}

Status write_peer_scripts(const std::string& folder) {
  LocalFileSystem files;
  for (const auto& [file, text] : torch_step_scripts()) {
    COHORT_RETURN_IF_ERROR(write_file_atomically(files, folder + "/" + file, std::as_bytes(std::span(text))));
  }
  return {};
}

Result<GroupStart> start_of(const std::string& contender, const StepCell& cell, const Session& session,
                            const StepPeers& peers, const std::string& folder) {
  const std::string kind = without_precision(contender);
  if (kind == kTorchAlone || kind == kTorchDdp) return torch(contender, cell, peers, folder);
  return ours(contender, cell, session);
}

}  // namespace cohort::tool
