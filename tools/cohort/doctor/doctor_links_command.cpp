#include "base/units.h"
#include "commands.h"
#include "doctor/measure_links.h"
#include "launch/environment.h"

#include <CLI/CLI.hpp>
#include <iostream>

namespace cohort::tool {
namespace {

/// `cohort doctor-links`: one of the ranks with which `cohort doctor --hosts` measures; hidden.
class DoctorLinksCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"doctor-links"}; }
  std::string summary() const override { return ""; }
  void add_options(CLI::App& app) override {
    app.add_flag("--at-once", at_once_, "Measure disjoint pairs at the same time");
    app.add_option("--time", time_, "For each direction of each pair")->required();
    app.add_option("--without", left_out_, "Two ranks, the lower first, that are not measured");
  }
  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const LaunchFacts facts, launch_facts(session.environment));
    LinkMeasuring measuring{.pairs = at_once_ ? PairsAtOnce::kDisjoint : PairsAtOnce::kOne};
    COHORT_ASSIGN_OR_RETURN(measuring.time, parse_duration(time_).within("--time"));
    measuring.left_out = left_out_;
    COHORT_RETURN_IF_ERROR(
        measure_links(facts, measuring, [&](const std::string& line) { session.out << line << std::flush; }));
    return ExitCode::kDone;
  }

 private:
  bool at_once_ = false;
  std::string time_;
  std::vector<std::pair<int, int>> left_out_;
};

}  // namespace

std::unique_ptr<Command> make_doctor_links_command() {
  return std::make_unique<DoctorLinksCommand>();
}

}  // namespace cohort::tool
