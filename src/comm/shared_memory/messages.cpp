#include "comm/shared_memory/messages.h"

#include "comm/shared_memory/transport.h"

namespace cohort::comm {

OwnHostMessages::~OwnHostMessages() {
  if (!exchange_) return;
  neighbours_->progress().remove(*exchange_);
  exchange_->close();
}

void OwnHostMessages::end(const Error& why, Ending ending) {
  const std::lock_guard lock(mutex_);
  if (exchange_) exchange_->end(why, ending);
}

void OwnHostMessages::close() {
  const std::lock_guard lock(mutex_);
  if (exchange_) exchange_->close();
}

Exchange& OwnHostMessages::exchange() {
  const std::lock_guard lock(mutex_);
  if (!exchange_) {
    // Neighbours watches whether members are alive; the exchange must not judge by silence.
    constexpr std::chrono::hours kNever(24 * 365);
    exchange_ = std::make_unique<Exchange>(std::make_unique<SharedMemoryTransport>(*neighbours_), clock_,
                                           Exchange::Options{.liveness = kNever});
    exchange_->open(neighbours_->doorbell());
    neighbours_->progress().add(*exchange_);
  }
  return *exchange_;
}

}  // namespace cohort::comm
