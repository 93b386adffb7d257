#include "ucx/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <tuple>

namespace cohort::ucx {
namespace {

constexpr const char* kRemedy = "Install UCX (Debian: libucx0), or use another backend.";

Error unsupported(std::string words) {
  return Error(ErrorCode::kUnsupported, std::move(words)).with_remedy(kRemedy);
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Status check_version(const UcxLibrary& library) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  library.ucp_get_version(&major, &minor, &release);
  if (major == UCP_API_MAJOR && minor >= UCP_API_MINOR) return {};
  return unsupported(fmt::format("found UCX {}.{}.{}, expected {}.{} or a newer {}.x", major, minor, release,
                                 UCP_API_MAJOR, UCP_API_MINOR, UCP_API_MAJOR));
}

}  // namespace

Result<UcxLibrary> UcxLibrary::load(const std::string& file) {
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc has one for each thread
    return unsupported(
        fmt::format("UCX is not installed: {}", why != nullptr ? why : "dlerror() gives no reason"));
  }
  UcxLibrary library;
#define COHORT_UCX_FIND(name)             \
  if (!find(handle, #name, library.name)) \
    return unsupported(fmt::format("{} has no function {}", file, #name));
  COHORT_UCX_FUNCTIONS(COHORT_UCX_FIND)
#undef COHORT_UCX_FIND
  COHORT_RETURN_IF_ERROR(check_version(library));
  return library;
}

}  // namespace cohort::ucx
