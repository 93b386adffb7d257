#include "machine/survey_shared_memory.h"

#include "machine/kernel_text.h"

#include <cerrno>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace cohort::machine {
namespace {

constexpr std::size_t kTrialBytes = 4096;

Error refusal(std::string_view call) {
  const int failure = errno;
  return Error(ErrorCode::kUnsupported,
               fmt::format("{} failed: {}", call, std::generic_category().message(failure)));
}

Result<Works> try_descriptor(int descriptor) {
  if (::ftruncate(descriptor, kTrialBytes) != 0) return refusal("ftruncate of a memfd");
  void* const page = ::mmap(nullptr, kTrialBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (page == MAP_FAILED) return refusal("mmap of a memfd");
  *static_cast<volatile char*>(page) = 1;
  ::munmap(page, kTrialBytes);
  return Works{};
}

}  // namespace

Result<Overcommit> parse_overcommit(std::string_view text) {
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t mode, parse_count(text));
  if (mode > 2) return Error(ErrorCode::kCorrupt, fmt::format("the mode is {}, expected 0, 1 or 2", mode));
  return static_cast<Overcommit>(mode);
}

Result<std::string> parse_chosen_word(std::string_view text) {
  for (const std::string_view word : words_of(text)) {
    if (word.size() > 2 && word.front() == '[' && word.back() == ']') {
      return std::string(word.substr(1, word.size() - 2));
    }
  }
  return Error(ErrorCode::kCorrupt, fmt::format("no word of '{}' is in brackets", trimmed(text)));
}

Result<Works> try_memfd() {
  const int descriptor = ::memfd_create("cohort-trial", MFD_CLOEXEC);
  if (descriptor < 0) return refusal("memfd_create");
  Result<Works> result = try_descriptor(descriptor);
  ::close(descriptor);
  return result;
}

SharedMemory survey_shared_memory(const ReadText& read, const MeasureSpace& measure_space) {
  return {.memfd = try_memfd(),
          .dev_shm = measure_space("/dev/shm"),
          .overcommit = parsed(read, "/proc/sys/vm/overcommit_memory", parse_overcommit),
          .huge_pages = parsed(read, "/sys/kernel/mm/transparent_hugepage/enabled", parse_chosen_word)};
}

}  // namespace cohort::machine
