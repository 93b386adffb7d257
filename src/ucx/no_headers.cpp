#include "ucx/port.h"

namespace cohort::ucx {

Result<std::unique_ptr<UcxPort>> open_ucx_port(const UcxOptions&) {
  return Error(ErrorCode::kUnsupported, "this Cohort was built without UCX")
      .with_remedy(
          "Install UCX's headers (Debian: libucx-dev) and build Cohort again, or use another backend.");
}

}  // namespace cohort::ucx
