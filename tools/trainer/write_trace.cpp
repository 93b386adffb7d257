#include "write_trace.h"

#include "observe/program_json.h"
#include "storage/local_file_system.h"
#include "storage/path.h"
#include "storage/whole_file.h"
#include <cohort/context.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace cohort::tool {
namespace {

using Json = nlohmann::ordered_json;

Json action_json(const ActionRecord& action) {
  Json json{{"verb", action.verb}, {"lane", action.lane}};
  observe::add_numbers(json, action);
  json["begin_s"] = action.begin_seconds;
  json["end_s"] = action.end_seconds;
  return json;
}

Json programs_json(int rank, const Trace& trace) {
  Json programs = Json::array();
  for (const ActionRecord& action : trace.actions) {
    if (programs.empty() || programs.back()["step"] != action.step) {
      programs.push_back({{"rank", rank}, {"step", action.step}, {"actions", Json::array()}});
    }
    programs.back()["actions"].push_back(action_json(action));
  }
  return programs;
}

Json calls_json(int rank, const Trace& trace) {
  Json calls = Json::array();
  for (const CallRecord& call : trace.calls) {
    calls.push_back({{"rank", rank},
                     {"group", call.group},
                     {"operation", call.operation},
                     {"bytes", call.bytes},
                     {"begin_s", call.begin_seconds},
                     {"end_s", call.end_seconds}});
  }
  return calls;
}

// The texts of all ranks, on rank 0. Texts are padded to the length of the longest.
std::vector<std::string> gathered(Context& context, std::string text) {
  const auto world = static_cast<std::size_t>(context.size());
  const std::array<std::int64_t, 1> own{static_cast<std::int64_t>(text.size())};
  std::vector<std::int64_t> lengths(world);
  context.all_gather(own, lengths);
  std::int64_t longest = 1;
  for (const std::int64_t length : lengths) longest = std::max(longest, length);
  text.resize(static_cast<std::size_t>(longest), ' ');
  std::string all(context.rank() == 0 ? static_cast<std::size_t>(longest) * world : 0, ' ');
  context.gather(ConstNumbers(text.data(), text.size(), DType::kU8),
                 Numbers(all.data(), all.size(), DType::kU8), /*root=*/0);
  std::vector<std::string> texts;
  if (context.rank() != 0) return texts;
  for (std::size_t rank = 0; rank < world; ++rank) {
    texts.push_back(
        all.substr(rank * static_cast<std::size_t>(longest), static_cast<std::size_t>(lengths[rank])));
  }
  return texts;
}

}  // namespace

void check_trace_file(const std::string& path) {
  LocalFileSystem files;
  const std::string file = std::filesystem::absolute(path).lexically_normal().string();
  const Status ready = files.check_writable(storage::directory_of(file));
  if (ready) return;
  raise(ready.error().within("trace.file cannot be written").with_remedy("Set trace.file to another file."));
}

void write_trace(Context& context, const Trace& trace, const std::string& path) {
  const Json mine{{"programs", programs_json(context.rank(), trace)},
                  {"calls", calls_json(context.rank(), trace)}};
  const std::vector<std::string> texts = gathered(context, mine.dump());
  if (context.rank() != 0) return;
  Json whole{{"programs", Json::array()}, {"calls", Json::array()}};
  for (const std::string& text : texts) {
    const Json part = Json::parse(text);
    for (const char* key : {"programs", "calls"}) {
      whole[key].insert(whole[key].end(), part[key].begin(), part[key].end());
    }
  }
  const std::string text = whole.dump() + "\n";
  LocalFileSystem files;
  value_or_throw(write_file_atomically(files, path, std::as_bytes(std::span(text)))
                     .within("the trace was not written to trace.file"));
}

}  // namespace cohort::tool
