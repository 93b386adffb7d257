#include "base/units.h"
#include "bench/form_bench.h"
#include "commands.h"
#include "observe/json_text.h"
#include "observe/table.h"

#include <CLI/CLI.hpp>
#include <cmath>

namespace cohort::tool {
namespace {

std::string form_json(const std::vector<FormRow>& rows) {
  nlohmann::ordered_json losses = nlohmann::ordered_json::array();
  for (const FormRow& row : rows) {
    losses.push_back({{"ranks", row.ranks},
                      {"noticed_s", row.noticed_s},
                      {"agreed_s", row.agreed_s},
                      {"formed_s", row.formed_s},
                      {"summed_s", row.summed_s}});
  }
  return observe::json_text({{"losses", losses}});
}

observe::Cell time_cell(double value_s) {
  return {format_duration(std::chrono::nanoseconds(std::llround(value_s * 1e9)))};
}

std::string form_table(const std::vector<FormRow>& rows, const Session& session) {
  observe::Table table({"ranks", "noticed", "agreed", "formed", "first sum"});
  for (const FormRow& row : rows) {
    table.add({{std::to_string(row.ranks)},
               time_cell(row.noticed_s),
               time_cell(row.agreed_s),
               time_cell(row.formed_s),
               time_cell(row.summed_s)});
  }
  return table.text(session.screen());
}

/// `cohort bench form`: runs as one of the ranks that a launcher started, and loses them.
class BenchFormCommand final : public Command {
 public:
  std::vector<std::string> words() const override { return {"bench", "form"}; }
  std::string summary() const override {
    return "Measure how fast ranks go on after the loss of one: started as a program by cohort run "
           "--on-rank-loss tell";
  }

  void add_options(CLI::App& app) override {
    app.add_option("--losses", losses_, "How many ranks are killed, one after the other")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_flag("--json", json_, "Print one JSON object");
  }

  Result<ExitCode> run(Session& session) override {
    COHORT_ASSIGN_OR_RETURN(const LaunchFacts facts, launch_facts(session.environment));
    COHORT_ASSIGN_OR_RETURN(const std::vector<FormRow> rows, bench_form(facts, losses_));
    if (facts.rank == 0) session.out << (json_ ? form_json(rows) : form_table(rows, session));
    return ExitCode::kDone;
  }

 private:
  int losses_ = 1;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_form_command() {
  return std::make_unique<BenchFormCommand>();
}

}  // namespace cohort::tool
