#include "world/link_cache.h"

#include "base/checksum.h"
#include "storage/whole_file.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sstream>
#include <sys/stat.h>

namespace cohort::world {
namespace {

constexpr const char* kFileName = "/links";
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;

std::int64_t now_s() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(since).count();
}

bool is_good(const comm::LinkFigures& figures) {
  return std::isfinite(figures.latency_s) && std::isfinite(figures.byte_s) && figures.latency_s > 0 &&
         figures.byte_s > 0;
}

// Processes that see other interfaces are on another host, as far as links are concerned.
std::uint64_t network_number() {
  struct stat file {};
  return ::stat("/proc/self/ns/net", &file) == 0 ? static_cast<std::uint64_t>(file.st_ino) : 0;
}

}  // namespace

std::uint64_t host_identity(FileSystem& files, const std::vector<std::string>& addresses) {
  std::string text = fmt::format("{}\n", network_number());
  if (const auto boot = read_file(files, "/proc/sys/kernel/random/boot_id")) text += *boot;
  for (const std::string& address : addresses) text += address + "\n";
  return content_hash(std::as_bytes(std::span(text)));
}

std::string LinkName::text() const {
  return fmt::format("{:016x}-{:016x}-{}", std::min(first, second), std::max(first, second), way);
}

LinkCache::LinkCache(FileSystem& files, const std::string& directory)
    : files_(files), directory_(directory) {}

std::vector<LinkCache::Entry> LinkCache::read() const {
  std::vector<Entry> entries;
  if (directory_.empty()) return entries;
  const auto text = read_file(files_, directory_ + kFileName, kMostBytes);
  if (!text) return entries;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Entry entry;
    words >> entry.name >> entry.figures.latency_s >> entry.figures.byte_s >> entry.found_at_s;
    const std::int64_t age_s = now_s() - entry.found_at_s;
    const bool is_fresh = age_s >= 0 && age_s < std::chrono::seconds(kGoodFor).count();
    if (words && is_fresh && is_good(entry.figures)) entries.push_back(std::move(entry));
  }
  return entries;
}

std::optional<comm::LinkFigures> LinkCache::find(const LinkName& name) const {
  for (const Entry& entry : read()) {
    if (entry.name == name.text()) return entry.figures;
  }
  return std::nullopt;
}

void LinkCache::keep(const LinkName& name, const comm::LinkFigures& figures) {
  if (directory_.empty() || !is_good(figures)) return;
  std::vector<Entry> entries = read();
  std::erase_if(entries, [&](const Entry& entry) { return entry.name == name.text(); });
  entries.push_back({name.text(), figures, now_s()});
  std::string text;
  for (const Entry& entry : entries) {
    text += fmt::format("{} {:.6g} {:.6g} {}\n", entry.name, entry.figures.latency_s, entry.figures.byte_s,
                        entry.found_at_s);
  }
  if (!files_.make_directories(directory_)) return;
  (void)write_file_atomically(files_, directory_ + kFileName, std::as_bytes(std::span(text)));
}

}  // namespace cohort::world
