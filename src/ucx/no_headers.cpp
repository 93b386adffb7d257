#include "ucx/port.h"

namespace cohort::ucx {

Result<std::unique_ptr<UcxPort>> open_ucx_port(const UcxOptions&) {
  return Error(ErrorCode::kUnsupported, "this Cohort was built without UCX")
      .with_remedy("Install Debian's libucx-dev and build Cohort again, or use another transport.");
}

}  // namespace cohort::ucx
