#include "bench/bench_output.h"

#include "base/units.h"
#include "measure/step_run.h"
#include "observe/json_text.h"
#include "observe/table.h"

#include <cmath>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

using nlohmann::ordered_json;
using observe::Cell;

// The work that a row is compared with, besides that of PyTorch.
struct PlainPeer {
  std::string work{};
  std::string key{};  // of its time
  bool peer_by_ours = false;
};

PlainPeer plain_peer(const CheckpointRow& row) {
  if (row.what == "save") return {.work = "write", .key = "dd_s", .peer_by_ours = true};
  if (row.what == "load") return {.work = "read", .key = "read_s"};
  return {.work = "copy", .key = "copy_s"};
}

// The 10th percentile.
std::optional<double> seconds_of(const CheckpointRow& row, const std::string& contender) {
  const auto found = row.times.find(contender);
  if (found == row.times.end()) return std::nullopt;
  return found->second.p10_ns / 1e9;
}

std::optional<double> plain_ratio(const CheckpointRow& row) {
  const PlainPeer peer = plain_peer(row);
  const auto ours = seconds_of(row, "ours"), plain = seconds_of(row, peer.work);
  return peer.peer_by_ours ? measure::ratio_of(plain, ours) : measure::ratio_of(ours, plain);
}

std::optional<double> dcp_by_ours(const CheckpointRow& row) {
  return measure::ratio_of(seconds_of(row, "dcp"), seconds_of(row, "ours"));
}

ordered_json number_or_null(const std::optional<double>& value) {
  return value ? ordered_json(rounded(*value)) : ordered_json(nullptr);
}

ordered_json checkpoint_row_json(const CheckpointRow& row) {
  const PlainPeer peer = plain_peer(row);
  ordered_json object{{"what", row.what}, {"ranks", row.ranks}, {"bytes", row.total_bytes}};
  object["ours_s"] = number_or_null(seconds_of(row, "ours"));
  object["dcp_s"] = number_or_null(seconds_of(row, "dcp"));
  for (const char* key : {"dd_s", "copy_s", "read_s"}) {
    object[key] = key == peer.key ? number_or_null(seconds_of(row, peer.work)) : ordered_json(nullptr);
  }
  object["ratio"] = number_or_null(plain_ratio(row));
  object["ratio_is"] = peer.peer_by_ours ? peer.key + " / ours_s" : "ours_s / " + peer.key;
  object["dcp_by_ours"] = number_or_null(dcp_by_ours(row));
  object["samples"] = row.times.at("ours").count;
  return object;
}

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? format_duration(std::chrono::nanoseconds(std::llround(*seconds * 1e9))) : "-";
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

}  // namespace

std::string checkpoint_json(const std::vector<CheckpointRow>& rows) {
  ordered_json all = ordered_json::array();
  for (const CheckpointRow& row : rows) all.push_back(checkpoint_row_json(row));
  return observe::json_text({{"rows", all}});
}

std::string checkpoint_table(const std::vector<CheckpointRow>& rows, const Session& session) {
  observe::Table table({"work", "ours", "plain", "of", "dcp", "ratio", "of", "dcp / ours"});
  const std::map<std::string, std::string> names{
      {"write", "write(2) and fsync(2)"}, {"read", "read(2)"}, {"copy", "memcpy"}};
  for (const CheckpointRow& row : rows) {
    const PlainPeer peer = plain_peer(row);
    table.add({{row.what},
               {seconds_text(seconds_of(row, "ours")), Colour::kBold},
               {seconds_text(seconds_of(row, peer.work))},
               {names.at(peer.work)},
               {seconds_text(seconds_of(row, "dcp"))},
               {ratio_text(plain_ratio(row))},
               {peer.peer_by_ours ? "plain / ours" : "ours / plain"},
               {ratio_text(dcp_by_ours(row))}});
  }
  return table.text(session.screen());
}

}  // namespace cohort::tool
