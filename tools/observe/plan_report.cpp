#include "observe/plan_report.h"

#include "base/units.h"
#include "observe/json_text.h"
#include "observe/program_json.h"
#include "observe/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::observe {

std::uint64_t total_bytes(const std::vector<MemoryPart>& parts) {
  std::uint64_t bytes = 0;
  for (const MemoryPart& part : parts) bytes += part.bytes;
  return bytes;
}

nlohmann::ordered_json memory_json(const std::vector<MemoryPart>& parts) {
  auto list = nlohmann::ordered_json::array();
  for (const MemoryPart& part : parts) list.push_back({{"what", part.what}, {"bytes", part.bytes}});
  return list;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 32;

// `0–3`, or a list where the numbers are not consecutive.
std::string slots_text(const std::vector<int>& slots) {
  if (slots.empty()) return "none";
  const auto distance = static_cast<std::size_t>(slots.back() - slots.front());
  if (slots.size() < 3 || distance + 1 != slots.size()) return fmt::format("{}", fmt::join(slots, ", "));
  return fmt::format("{}–{}", slots.front(), slots.back());
}

std::string overview(const PlanReport& plan, const Screen& screen) {
  Table table({"plan", ""});
  const auto row = [&](const std::string& what, const std::string& value) {
    if (!value.empty()) table.add({{what, Colour::kBold}, {value}});
  };
  row("data", plan.data);
  row("model", fmt::format("{}{}{} parameters", plan.model, plan.model.empty() ? "" : ", ", plan.parameters));
  row("update", plan.update);
  row("ranks", std::to_string(plan.slots_of_rank.size()));
  row("batch", fmt::format("{} samples", plan.batch));
  row("steps", fmt::format("{}, {} in each of {} epochs", plan.steps, plan.steps_per_epoch, plan.epochs));
  row("exchanged", fmt::format("{} per rank and step", format_bytes(plan.bytes_per_step)));
  row("memory", fmt::format("{} per rank", format_bytes(total_bytes(plan.memory))));
  row("written to", plan.run_directory);
  return table.text(screen);
}

// A title, the table, and the number of rows left out.
std::string section(const Table& table, std::size_t rows, const Screen& screen) {
  std::string text = '\n' + table.text(screen);
  if (rows > kMostRows) text += fmt::format("… and {} more\n", rows - kMostRows);
  return text;
}

std::string slots_section(const PlanReport& plan, const Screen& screen) {
  Table table({"rank", "slots"});
  for (std::size_t rank = 0; rank < std::min(plan.slots_of_rank.size(), kMostRows); ++rank) {
    table.add({{std::to_string(rank)}, {slots_text(plan.slots_of_rank[rank])}});
  }
  return section(table, plan.slots_of_rank.size(), screen);
}

std::string buckets_section(const PlanReport& plan, const Screen& screen) {
  Table table({"bucket", "size", "tensors", "from", "to"});
  for (std::size_t number = 0; number < std::min(plan.buckets.size(), kMostRows); ++number) {
    const PlanBucket& bucket = plan.buckets[number];
    table.add({{std::to_string(number)},
               {format_bytes(bucket.bytes)},
               {std::to_string(bucket.tensors)},
               {bucket.first},
               {bucket.last}});
  }
  return section(table, plan.buckets.size(), screen);
}

std::string program_section(const PlanReport& plan, const Screen& screen) {
  const std::vector<Action>& actions = plan.programs.front().actions;
  Table table({"#", "lane", "action of rank 0 in a step"});
  for (std::size_t number = 0; number < std::min(actions.size(), kMostRows); ++number) {
    table.add(
        {{std::to_string(number + 1)}, {std::to_string(actions[number].lane)}, {actions[number].text()}});
  }
  return section(table, actions.size(), screen);
}

std::string memory_section(const PlanReport& plan, const Screen& screen) {
  Table table({"memory of a rank", "size"});
  for (const MemoryPart& part : plan.memory) table.add({{part.what}, {format_bytes(part.bytes)}});
  return section(table, 0, screen);
}

Json programs_json(const PlanReport& plan) {
  Json list = Json::array();
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    list.push_back(program_json(static_cast<int>(rank), plan.programs[rank]));
  }
  return list;
}

Json buckets_json(const PlanReport& plan) {
  Json list = Json::array();
  for (const PlanBucket& bucket : plan.buckets) {
    list.push_back({{"bytes", bucket.bytes},
                    {"tensors", bucket.tensors},
                    {"first", bucket.first},
                    {"last", bucket.last}});
  }
  return list;
}

}  // namespace

std::string plan_text(const PlanReport& plan, const Screen& screen) {
  std::string text = overview(plan, screen) + slots_section(plan, screen);
  if (!plan.buckets.empty()) text += buckets_section(plan, screen);
  if (!plan.programs.empty()) text += program_section(plan, screen);
  if (!plan.memory.empty()) text += memory_section(plan, screen);
  return text;
}

std::string plan_json(const PlanReport& plan) {
  return json_text({{"data", plan.data},
                    {"model", plan.model},
                    {"parameters", plan.parameters},
                    {"update", plan.update},
                    {"ranks", plan.slots_of_rank.size()},
                    {"batch", plan.batch},
                    {"epochs", plan.epochs},
                    {"steps_per_epoch", plan.steps_per_epoch},
                    {"steps", plan.steps},
                    {"slots_of_rank", plan.slots_of_rank},
                    {"buckets", buckets_json(plan)},
                    {"programs", programs_json(plan)},
                    {"bytes_per_step", plan.bytes_per_step},
                    {"memory_bytes", total_bytes(plan.memory)},
                    {"memory", memory_json(plan.memory)},
                    {"run_directory", plan.run_directory}});
}

}  // namespace cohort::observe
