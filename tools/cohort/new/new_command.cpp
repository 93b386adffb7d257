#include "commands.h"
#include "new/project_files.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

namespace fs = std::filesystem;

// CMake accepts these letters in the name of a target, and a shell in a word without quotes.
bool is_project_name(const std::string& name) {
  const auto is_allowed = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-';
  };
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

// The folder that this tool is installed in, if it is installed with its package for CMake.
std::optional<fs::path> installation_of(const fs::path& tool) {
  const fs::path prefix = tool.parent_path().parent_path();
  std::error_code ignored;
  for (const char* library : {COHORT_LIBRARY_FOLDER, "lib"}) {
    if (fs::exists(prefix / library / "cmake/cohort/cohortConfig.cmake", ignored)) return prefix;
  }
  return std::nullopt;
}

/// `cohort new NAME`: writes a small project that uses the library.
class NewCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"new"}; }
  std::string summary() const override { return "Write a small C++ project that trains with Cohort"; }
  void add_options(CLI::App& app) override {
    app.add_option("folder", folder_, "The folder to create; its last part is the name of the project")
        ->required()
        ->type_name("FOLDER");
  }

  Result<ExitCode> run(Session& session) override {
    fs::path folder = fs::path(folder_).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();  // a slash at the end
    folder_ = folder.string();
    const std::string name = folder.filename().string();
    if (!is_project_name(name)) {
      return Error(ErrorCode::kUsage, fmt::format("'{}' cannot be the name of a project", name))
          .with_remedy("Use letters, digits, '_' and '-', with a letter first: cohort new my_project.");
    }
    LocalFileSystem files;
    COHORT_RETURN_IF_ERROR(check_is_empty(files));
    COHORT_RETURN_IF_ERROR(files.make_directories(folder_).within("cannot create the project"));
    const auto prefix = installation_of(session.program);
    for (const auto& [file, content] : project_files(name, prefix ? prefix->string() : "PREFIX")) {
      COHORT_RETURN_IF_ERROR(
          write_file_atomically(files, (fs::path(folder_) / file).string(), std::as_bytes(std::span(content)))
              .within("cannot write the project"));
    }
    session.out << next_steps(name, prefix);
    return ExitCode::kDone;
  }

 private:
  Status check_is_empty(FileSystem& files) const {
    COHORT_ASSIGN_OR_RETURN(const bool exists, files.exists(folder_).within("cannot create the project"));
    if (!exists) return {};
    const auto names = files.list(folder_);
    if (names && names->empty()) return {};
    return Error(ErrorCode::kUsage, fmt::format("'{}' exists and is not an empty folder", folder_))
        .with_remedy("Give the name of a new folder.");
  }

  std::string next_steps(const std::string& name, const std::optional<fs::path>& prefix) const {
    std::string text =
        fmt::format("{} has a CMakeLists.txt, a main.cpp and a README.md. Build and train:\n", folder_);
    if (!prefix)
      text += "  make install PREFIX=PREFIX    # in the folder of Cohort, which is not installed yet\n";
    return text + fmt::format(
                      "  cmake -S {0} -B {0}/build -D CMAKE_PREFIX_PATH={1}\n"
                      "  cmake --build {0}/build\n"
                      "  cohort run -n 2 {0}/build/{2}\n",
                      folder_, prefix ? prefix->string() : "PREFIX", name);
  }

  std::string folder_;
};

}  // namespace

std::unique_ptr<Command> make_new_command() {
  return std::make_unique<NewCommand>();
}

}  // namespace cohort::tool
