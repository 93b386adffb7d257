#include "ucx/doorbell.h"
#include "ucx/port.h"
#include "ucx/transport.h"

namespace cohort::ucx {
namespace {

class Port final : public UcxPort {
 public:
  Port(std::shared_ptr<UcxWorker> worker, UcxOptions options)
      : worker_(std::move(worker)), options_(std::move(options)) {}

  const std::vector<std::byte>& address() const override { return worker_->address(); }
  std::unique_ptr<comm::Doorbell> make_doorbell() override { return std::make_unique<UcxDoorbell>(worker_); }
  Result<std::unique_ptr<comm::Transport>> join(const UcxFacts& facts, Clock& clock) override {
    auto transport = std::make_unique<UcxTransport>(worker_, facts, clock, options_);
    COHORT_RETURN_IF_ERROR(transport->connect(facts));
    return std::unique_ptr<comm::Transport>(std::move(transport));
  }

 private:
  const std::shared_ptr<UcxWorker> worker_;
  const UcxOptions options_;
};

}  // namespace

Result<std::unique_ptr<UcxPort>> open_ucx_port(const UcxOptions& options) {
  COHORT_ASSIGN_OR_RETURN(std::shared_ptr<UcxWorker> worker, UcxWorker::make(options));
  return std::unique_ptr<UcxPort>(std::make_unique<Port>(std::move(worker), options));
}

}  // namespace cohort::ucx
