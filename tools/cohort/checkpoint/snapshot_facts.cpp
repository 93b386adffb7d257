#include "checkpoint/snapshot_facts.h"

#include "base/units.h"
#include "observe/amounts.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::tool {
namespace {

using checkpoint::Manifest;
using FactsJson = nlohmann::ordered_json;

std::string mesh_text(const Manifest& manifest) {
  std::vector<std::string> axes;
  for (const auto& [axis, ranks] : manifest.mesh) axes.push_back(fmt::format("{} × {}", axis, ranks));
  return fmt::format("{}", fmt::join(axes, ", "));
}

std::string position_text(const state::Position& position) {
  const auto count = [](std::int64_t number, const char* word) {
    return counted(static_cast<std::uint64_t>(number), word);
  };
  return fmt::format("step {}, after {} and {}, {}", position.step, count(position.epoch, "epoch"),
                     count(position.step_in_epoch, "step"), count(position.samples, "sample"));
}

std::string best_text(const state::Position& position) {
  if (!std::isfinite(position.best_loss)) return "-";
  return fmt::format("{}, {} ago", observe::format_number(position.best_loss),
                     counted(static_cast<std::uint64_t>(position.evaluations_since_best), "evaluation"));
}

std::string data_text(const checkpoint::Ledger& ledger) {
  return fmt::format("{}, batches of {} in {}", counted(static_cast<std::uint64_t>(ledger.samples), "sample"),
                     ledger.batch_size,
                     counted(static_cast<std::uint64_t>(ledger.micro_batches), "micro-batch"));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> facts_of(const Manifest& manifest) {
  const checkpoint::Course& course = manifest.course;
  std::vector<std::pair<std::string, std::string>> facts{
      {"kind", kind_text(manifest)},
      {"position", position_text(course.position)},
      {"taken", date_text(course.taken_at)},
      {"loss", number_text(course.loss)},
      {"best loss", best_text(course.position)},
      {"data", data_text(course.ledger)},
      {"written by", fmt::format("{} on {}", counted(static_cast<std::uint64_t>(manifest.ranks), "rank"),
                                 counted(static_cast<std::uint64_t>(manifest.hosts), "host"))},
      {"mesh", mesh_text(manifest)},
      {"version", fmt::format("format {}, cohort {}", manifest.version, manifest.cohort_version)},
      {"files", fmt::format("{}, {}", manifest.shards.size(), format_bytes(size_bytes(manifest)))}};
  for (const auto& [name, value] : course.settings) facts.emplace_back(name, value);
  return facts;
}

FactsJson facts_json(const Manifest& manifest) {
  const checkpoint::Course& course = manifest.course;
  const state::Position& position = course.position;
  return {{"kind", manifest.base.empty() ? "full" : "difference"},
          {"base", manifest.base},
          {"version", manifest.version},
          {"cohort", manifest.cohort_version},
          {"ranks", manifest.ranks},
          {"hosts", manifest.hosts},
          {"mesh", manifest.mesh},
          {"position",
           {{"step", position.step},
            {"epoch", position.epoch},
            {"step_in_epoch", position.step_in_epoch},
            {"samples", position.samples},
            {"evaluations_since_best", position.evaluations_since_best},
            {"best_loss", number_json(position.best_loss)}}},
          {"ledger",
           {{"samples", course.ledger.samples},
            {"batch_size", course.ledger.batch_size},
            {"micro_batches", course.ledger.micro_batches}}},
          {"taken_at", course.taken_at ? FactsJson(*course.taken_at) : FactsJson()},
          {"loss", number_json(course.loss)},
          {"settings", course.settings},
          {"config", course.config}};
}

std::string date_text(std::optional<std::int64_t> seconds) {
  if (!seconds) return "-";
  constexpr std::int64_t kLast = 253'402'300'799;  // of the year 9999
  const std::chrono::sys_seconds time{std::chrono::seconds(std::min(*seconds, kLast))};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count());
}

std::string kind_text(const Manifest& manifest) {
  return manifest.base.empty() ? "full" : fmt::format("difference of {}", manifest.base);
}

std::string counted(std::uint64_t count, const std::string& word) {
  const char* const ending = count == 1 ? "" : word.ends_with("batch") ? "es" : "s";
  return fmt::format("{} {}{}", count, word, ending);
}

std::string type_text(DType dtype, const Shape& shape) {
  return fmt::format("{} [{}]", name(dtype), fmt::join(shape, ", "));
}

std::string number_text(std::optional<double> number) {
  return number ? observe::format_number(*number) : "-";
}

FactsJson number_json(std::optional<double> number) {
  return number && std::isfinite(*number) ? FactsJson(*number) : FactsJson();
}

}  // namespace cohort::tool
