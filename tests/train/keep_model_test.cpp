#include "train/keep_model.h"

#include "small_models.h"
#include "state/model_facts.h"
#include "state/safetensors.h"
#include "storage/content.h"
#include "storage/faulty_file_system.h"
#include "storage/local_file_system.h"
#include "storage/temporary_directory.h"
#include "training_world.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

// A trained model is written, whatever happens to its folder.

namespace cohort::test {
namespace {

using train::keep_model;
using train::tensors_of;

const train::ModelPlaces kPlaces{.path = "run/last.safetensors", .refuges = {"full", "here"}};

Status keep(FileSystem& fs) {
  return keep_model(fs, kPlaces, tensors_of(*exact_linear()), {.kind = "mine"});
}

bool is_model(FileSystem& fs, const std::string& path) {
  const auto file = SafetensorsFile::open(fs, path);
  return file && file->tensors().size() == 2 &&
         value_or_throw(state::facts_in(file->metadata())).kind == "mine";
}

TEST(KeepModel, CreatesTheFolderAgain) {
  MemoryFileSystem fs;
  ASSERT_TRUE(keep(fs));
  EXPECT_TRUE(is_model(fs, "run/last.safetensors"));
}

TEST(KeepModel, TakesARefugeAndNamesIt) {
  MemoryFileSystem fs;
  put(fs, "run", "a file where the folder was");
  ASSERT_TRUE(fs.make_directories("here"));
  for (const std::string name : {"rescued-last.safetensors", "rescued-last-2.safetensors"}) {
    const Status status = keep(fs);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().text().find("/here/" + name + "', because 'run/last.safetensors' could not"),
              std::string::npos)
        << status.error().text();
    EXPECT_TRUE(is_model(fs, "here/" + name)) << name;
  }
}

TEST(KeepModel, SaysSoIfNothingHelps) {
  MemoryFileSystem fs(10);
  ASSERT_TRUE(fs.make_directories("run"));
  const Status status = keep(fs);
  EXPECT_EQ(code_name(status), "disk_full");
  EXPECT_NE(status.error().text().find("the trained model is lost"), std::string::npos);
}

// Whichever call fails, the model is somewhere, and an error tells where unless it is in its place.
TEST(KeepModel, OneFailureNeverLosesTheModel) {
  for (std::uint64_t call = 1;; ++call) {
    MemoryFileSystem disk;
    ASSERT_TRUE(disk.make_directories("here"));
    ASSERT_TRUE(disk.make_directories("run"));
    FaultyFileSystem fs(disk, {.fail_call = call, .code = ErrorCode::kDiskFull});
    const Status status = keep(fs);
    EXPECT_TRUE(status) << call << ": " << status.error().text();
    EXPECT_TRUE(is_model(disk, "run/last.safetensors")) << call;
    if (fs.calls() < call) return;
  }
}

TrainerOptions with_directory(const std::string& path) {
  TrainerOptions options = exact_options();
  options.directory = path;
  return options;
}

// The errors of all ranks of a training whose options are `options_of(rank)`.
std::vector<std::string> said_by(int world, const std::function<TrainerOptions(int)>& options_of) {
  std::vector<std::string> said(static_cast<std::size_t>(world), "no error");
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    Trainer trainer(group, arena, layer.ptr(), squared_error(layer), options_of(group.rank()));
    try {
      const auto data = std::make_shared<WholeNumbers>(64);
      trainer.fit(data, data);
    } catch (const Error& error) {
      said[static_cast<std::size_t>(group.rank())] = error.text();
    }
    (void)group.run(barrier());
  });
  EXPECT_WORLD_OK(outcome);
  return said;
}

TEST(TrainerDirectory, IsCreatedWithTheFacts) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/a/b";
  const auto said = said_by(2, [&](int) {
    TrainerOptions options = with_directory(path);
    options.facts = {.kind = "mine", .classes = {"x", "y"}, .others = {{"note", "n"}}};
    return options;
  });
  EXPECT_EQ(said, (std::vector<std::string>{"no error", "no error"}));
  LocalFileSystem files;
  for (const std::string name : {"/best.safetensors", "/last.safetensors"}) {
    const auto file = value_or_throw(SafetensorsFile::open(files, path + name));
    const ModelFacts facts = value_or_throw(state::facts_in(file.metadata()));
    EXPECT_EQ(facts.classes, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(facts.others,
              (std::map<std::string, std::string>{{"epoch", "1"}, {"note", "n"}, {"step", "4"}}));
  }
}

TEST(TrainerDirectory, ThatCannotBeWrittenToIsRefusedBeforeTheFirstStep) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/file";
  std::ofstream(path) << "not a folder";
  std::atomic<int> steps{0};
  const auto said = said_by(2, [&](int) {
    TrainerOptions options = with_directory(path);
    options.on_step = [&](const StepReport&) { ++steps; };
    return options;
  });
  for (const std::string& text : said) EXPECT_NE(text.find(path), std::string::npos) << text;
  EXPECT_EQ(steps, 0);
}

TEST(TrainerDirectory, OfThreeRunsKeepsAllModels) {
  const TemporaryDirectory folder;
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(said_by(1, [&](int) { return with_directory(folder.path()); }).front(), "no error");
  }
  for (const std::string part : {"", "/earlier-1", "/earlier-2"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() + part + "/last.safetensors")) << part;
    EXPECT_TRUE(std::filesystem::exists(folder.path() + part + "/best.safetensors")) << part;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/earlier-3"));
}

// Rank 0 loses its folder to a file in the last step: all ranks end and name the file that has the model.
TEST(TrainerDirectory, ThatIsGoneAtTheEndLosesNoModel) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/run";
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());  // the first refuge
  const auto said = said_by(2, [&](int rank) {
    TrainerOptions options = with_directory(path);
    options.on_step = [&, rank](const StepReport& step) {
      if (rank != 0 || step.step != 4) return;
      std::filesystem::remove_all(path);
      std::ofstream(path) << "in the way";
    };
    return options;
  });
  std::filesystem::current_path(before);
  for (const std::string& text : said) {
    EXPECT_NE(text.find("/rescued-best.safetensors', because"), std::string::npos) << text;
  }
  LocalFileSystem files;
  EXPECT_TRUE(SafetensorsFile::open(files, folder.path() + "/rescued-best.safetensors"));
}

TEST(TrainerDirectory, ThatIsRemovedWhileTrainingIsCreatedAgain) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/run";
  const auto said = said_by(2, [&](int rank) {
    TrainerOptions options = with_directory(path);
    options.on_step = [&, rank](const StepReport& step) {
      if (rank == 0 && step.step == 4) std::filesystem::remove_all(path);
    };
    return options;
  });
  EXPECT_EQ(said.front(), "no error");
  EXPECT_TRUE(std::filesystem::exists(path + "/last.safetensors"));
}

}  // namespace
}  // namespace cohort::test
