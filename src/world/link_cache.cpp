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

constexpr std::uint64_t kLongestEntry = 4096;

std::int64_t now_s() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(since).count();
}

bool is_good(const comm::LinkFigures& figures) {
  return std::isfinite(figures.latency_s) && std::isfinite(figures.byte_s) && figures.latency_s > 0 &&
         figures.byte_s > 0;
}

// The inode of the network namespace: processes in different namespaces have different links.
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
  return fmt::format("link-{:016x}-{:016x}-{}", std::min(first, second), std::max(first, second), way);
}

std::optional<comm::LinkFigures> LinkCache::find(const LinkName& name) const {
  if (directory_.empty()) return std::nullopt;
  const auto text = read_file(files_, path_of(name), kLongestEntry);
  if (!text) return std::nullopt;
  std::istringstream words(*text);
  comm::LinkFigures figures;
  std::int64_t found_at_s = 0;
  words >> figures.latency_s >> figures.byte_s >> found_at_s;
  if (!words || found_at_s < 0 || !is_good(figures)) return std::nullopt;
  const std::int64_t age_s = now_s() - found_at_s;
  if (age_s < 0 || age_s >= std::chrono::seconds(kGoodFor).count()) return std::nullopt;
  return figures;
}

void LinkCache::keep(const LinkName& name, const comm::LinkFigures& figures) {
  if (directory_.empty() || !is_good(figures) || !files_.make_directories(directory_)) return;
  const std::string text = fmt::format("{:.6g} {:.6g} {}\n", figures.latency_s, figures.byte_s, now_s());
  (void)write_file_atomically(files_, path_of(name), std::as_bytes(std::span(text)));
}

}  // namespace cohort::world
