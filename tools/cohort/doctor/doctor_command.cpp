#include "base/units.h"
#include "commands.h"
#include "doctor/doctor_output.h"
#include "doctor/examination.h"
#include "host_options.h"
#include "job_options.h"
#include "machine/diagnose.h"
#include "observe/json_text.h"
#include "session.h"
#include "storage/local_file_system.h"
#include "storage/whole_file.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using machine::Finding;
using machine::Severity;
using observe::json_text;

constexpr std::chrono::milliseconds kShortest{10};
constexpr std::chrono::seconds kLongest{60};

ExitCode exit_code_for(const std::vector<Finding>& findings) {
  return machine::worst(findings) != Severity::kProblem ? ExitCode::kDone : ExitCode::kFailed;
}

/// `cohort doctor [FILE]`: checks this machine, or several hosts, for a job.
class DoctorCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"doctor"}; }
  std::string summary() const override {
    return "Check this machine or several hosts: facts, problems, and remedies";
  }
  void add_options(CLI::App& app) override {
    job_.add_to(app, JobOptions::File::kOptional);
    app.add_flag("--json", json_,
                 "One JSON object: ok, findings, survey; for several hosts: ok, hosts, links, findings");
    hosts_.add_to(app);
    app.get_option("--hosts")->description(
        "Check these hosts and the links between them; a:4 is checked for four ranks");
    app.add_flag(
        "--at-once", at_once_,
        "Measure several pairs of hosts at the same time: shows the capacity of switches, not of one link");
    app.add_option("--time", time_, "Approximate time for each direction of each pair of hosts")
        ->type_name("DURATION")
        ->capture_default_str();
    app.add_option("--plot", plot_, "Write a map of bandwidth and latency between hosts to this file (SVG)")
        ->type_name("FILE");
  }
  std::vector<std::string> candidates(const std::string& option) const override {
    return job_.candidates(option);
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const config::Loaded loaded, job_.load());
    if (hosts_.is_used()) return run_on_hosts(session);
    if (plot_ || at_once_) {
      return Error(ErrorCode::kUsage, fmt::format("{} needs several hosts", plot_ ? "--plot" : "--at-once"))
          .with_remedy("Give them with --hosts.");
    }
    const machine::Survey survey = examine(session, loaded.config);
    const std::vector<Finding> findings = machine::diagnose(survey, wishes_of(loaded.config));
    if (json_) {
      session.out << json_text({{"ok", machine::worst(findings) != Severity::kProblem},
                                {"findings", to_json(findings)},
                                {"survey", to_json(survey)}});
    } else {
      session.out << findings_table(session, findings) << '\n'
                  << findings_closing(session, findings, "This machine is fine.") << '\n';
    }
    return exit_code_for(findings);
  }

 private:
  Result<ExitCode> run_on_hosts(Session& session) const {
    COHORT_ASSIGN_OR_RETURN(const LinkMeasuring measuring, measuring_of());
    COHORT_ASSIGN_OR_RETURN(HostedJob hosted, hosts_.plan(session, JobPlan{}));
    const machine::ClusterReport report = [&] {
      const ProgressLine line;
      return examine_hosts(std::move(hosted), {.job = job_words(),
                                               .measuring = measuring,
                                               .progress = [&](const std::string& text) { line.say(text); },
                                               .tell = [&](const std::string& text) { line.keep(text); }});
    }();
    const std::vector<Finding> findings = machine::diagnose_hosts(report);
    COHORT_RETURN_IF_ERROR(write_plot(report));
    session.out << (json_ ? json_text(hosts_json(report, findings)) : hosts_text(session, report, findings));
    return exit_code_for(findings);
  }

  Result<LinkMeasuring> measuring_of() const {
    LinkMeasuring measuring{.pairs = at_once_ ? PairsAtOnce::kDisjoint : PairsAtOnce::kOne};
    COHORT_ASSIGN_OR_RETURN(measuring.time, parse_duration(time_).within("--time"));
    if (measuring.time < kShortest || measuring.time > kLongest) {
      return Error(ErrorCode::kUsage, fmt::format("--time {}: it lies between {} and {}", time_,
                                                  format_duration(kShortest), format_duration(kLongest)));
    }
    return measuring;
  }

  // The job as arguments for `cohort doctor` on a host.
  std::vector<std::string> job_words() const {
    std::vector<std::string> words;
    if (!job_.file().empty()) words.push_back(job_.file());
    for (const std::string& assignment : job_.overrides()) words.insert(words.end(), {"--set", assignment});
    return words;
  }

  Status write_plot(const machine::ClusterReport& report) const {
    if (!plot_) return {};
    LocalFileSystem files;
    const std::string svg = measure::svg_of(heat_maps(report));
    return write_file_atomically(files, *plot_, std::as_bytes(std::span(svg)))
        .within("cannot write the plot");
  }

  JobOptions job_;
  HostOptions hosts_;
  std::optional<std::string> plot_;
  bool at_once_ = false;
  std::string time_ = "500ms";
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace cohort::tool
