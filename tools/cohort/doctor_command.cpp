#include "base/log.h"
#include "commands.h"
#include "job_options.h"
#include "launch/run_program.h"
#include "machine/diagnose.h"
#include "observe/json_text.h"
#include "observe/table.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"
#include "survey_json.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace cohort::tool {
namespace {

using observe::Cell;
using observe::json_text;
using observe::Table;

using machine::Finding;
using machine::Severity;

Colour colour_of(Severity severity) {
  switch (severity) {
    case Severity::kFine:
      return Colour::kGreen;
    case Severity::kNote:
      return Colour::kNone;
    case Severity::kWarning:
      return Colour::kYellow;
    case Severity::kProblem:
      return Colour::kRed;
  }
  return Colour::kNone;
}

machine::Wishes wishes_of(const Config& config) {
  return {.ranks = config.launch.ranks,
          .threads_per_rank = config.launch.threads_per_rank,
          .memory_per_rank_bytes = config.launch.memory_per_rank,
          .shared_memory_per_rank_bytes = config.launch.shared_memory_per_rank,
          .memory_headroom = config.doctor.memory_headroom,
          .interfaces = config.launch.interfaces,
          .open_files_per_rank = config.launch.open_files_per_rank};
}

/// `cohort doctor [FILE]`: is this machine fine for a job, and what to do if not.
class DoctorCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"doctor"}; }
  std::string summary() const override {
    return "Examine this machine: what it has, whether that is fine, what to do if not";
  }
  void add_options(CLI::App& app) override {
    job_.add_to(app, JobOptions::File::kOptional);
    app.add_flag("--json", json_, "One JSON object: ok, findings, survey");
  }
  std::vector<std::string> candidates(const std::string& option) const override {
    return job_.candidates(option);
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const config::Loaded loaded, job_.load());
    const machine::Survey survey = examine(session, loaded.config);
    const std::vector<Finding> findings = machine::diagnose(survey, wishes_of(loaded.config));
    const bool fine = machine::worst(findings) != Severity::kProblem;
    session.out << (json_ ? as_json(survey, findings) : as_table(session, findings));
    return fine ? ExitCode::kDone : ExitCode::kFailed;
  }

 private:
  static machine::Survey examine(const Session& session, const Config& config) {
    DescriptorSink sink(STDERR_FILENO, config.log.format);
    const RealClock clock;
    const Log log(sink, clock, {.level = config.log.level});
    const machine::Sources sources{
        .read_text =
            [&log](const std::string& path) {
              log.trace("reading {}", path);
              LocalFileSystem files;
              return read_file(files, path);
            },
        .run_program =
            [&log](const std::vector<std::string>& argv, std::chrono::nanoseconds limit) {
              log.info("running {}", fmt::join(argv, " "));
              return run_program(argv, limit);
            },
        .environment = session.environment};
    const auto probe = std::filesystem::path(session.program).parent_path() / "cohort-libtorch-probe";
    return machine::survey_machine(
        sources, {.probe = config.doctor.probe_libtorch ? std::optional(probe.string()) : std::nullopt,
                  .program_limit = config.doctor.probe_limit});
  }

  static std::string as_json(const machine::Survey& survey, const std::vector<Finding>& findings) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Finding& finding : findings) {
      list.push_back({{"topic", finding.topic},
                      {"severity", name(finding.severity)},
                      {"found", finding.found},
                      {"remedy", finding.remedy}});
    }
    const nlohmann::ordered_json object{{"ok", machine::worst(findings) != Severity::kProblem},
                                        {"findings", list},
                                        {"survey", to_json(survey)}};
    return json_text(object);
  }

  static std::string as_table(const Session& session, const std::vector<Finding>& findings) {
    Table table({"topic", "", "found, and what to do"});
    for (const Finding& finding : findings) {
      const Cell verdict{std::string(name(finding.severity)), colour_of(finding.severity)};
      table.add({{finding.topic, Colour::kBold}, verdict, {finding.found}});
      if (!finding.remedy.empty()) table.add({{""}, {""}, {"-> " + finding.remedy, Colour::kFaint}});
    }
    return table.text(session.screen()) + '\n' + closing(session, findings) + '\n';
  }

  static std::string closing(const Session& session, const std::vector<Finding>& findings) {
    const auto count = [&](Severity severity) {
      return std::count_if(findings.begin(), findings.end(),
                           [&](const Finding& f) { return f.severity == severity; });
    };
    const auto problems = count(Severity::kProblem);
    const auto warnings = count(Severity::kWarning);
    if (problems > 0) {
      return session.coloured(fmt::format("{} problem(s): the job would not run.", problems), Colour::kRed);
    }
    if (warnings > 0) {
      return session.coloured(fmt::format("{} warning(s): the job would run, but badly.", warnings),
                              Colour::kYellow);
    }
    return session.coloured("This machine is fine.", Colour::kGreen);
  }

  JobOptions job_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace cohort::tool
