#include "comm/exchange/exchange_mailbox.h"

#include "base/check.h"
#include "base/units.h"
#include "comm/exchange/carried_error.h"
#include "comm/exchange/pending_calls.h"
#include "comm/progress/handler_pool.h"

#include <fmt/format.h>
#include <map>
#include <mutex>
#include <utility>

namespace cohort::comm {
namespace {

// The tag of a reply.
constexpr std::uint64_t kFine = 0;
constexpr std::uint64_t kFailed = 1;

void send_reply(Exchange& exchange, int to, const FrameHeader& request, Result<Bytes> reply) {
  const FrameHeader header = {.channel = Channel::kReply,
                              .group = request.group,
                              .generation = request.generation,
                              .number = request.number,
                              .tag = reply ? kFine : kFailed};
  const auto bytes = std::make_shared<Bytes>(reply ? std::move(*reply) : encode(reply.error()));
  exchange.send(to, header, *bytes, [bytes](const Status&) {});
}

// Lets call() wait for its outcome.
class CallOutcome {
 public:
  void settle(Result<Bytes> outcome) {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    settled_.notify_all();
  }
  std::optional<Result<Bytes>> take_by(std::chrono::nanoseconds limit) {
    std::unique_lock lock(mutex_);
    settled_.wait_until(lock, deadline_after(std::chrono::steady_clock::now(), limit),
                        [&] { return outcome_.has_value(); });
    return std::move(outcome_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable settled_;
  std::optional<Result<Bytes>> outcome_;
};

class ExchangeMailbox final : public Mailbox, private Task {
 public:
  ExchangeMailbox(Exchange& exchange, TaskRunner& runner, MailboxOptions options);
  ~ExchangeMailbox() override;

  int member() const override { return exchange_.member(); }
  int num_members() const override { return exchange_.num_members(); }
  Result<Bytes> call(int to, std::uint32_t kind, std::span<const std::byte> request,
                     TimePoint deadline) override;
  void start(int to, std::uint32_t kind, Bytes request, TimePoint deadline,
             std::function<void(Result<Bytes>)> done) override;
  void serve(std::uint32_t kind, Handler handler) override;

 private:
  void begin(int to, std::uint32_t kind, Bytes request, TimePoint deadline, PendingCalls::Outcome outcome);
  Status check(int to, const Bytes& request) const;
  void on_request(int from, const FrameHeader& header, Bytes payload);
  void on_reply(int from, const FrameHeader& header, Bytes payload);
  Result<Bytes> answer(int from, std::uint32_t kind, std::span<const std::byte> request);

  bool advance() override;
  TimePoint wanted_at() const override { return calls_->wanted_at(); }

  Exchange& exchange_;
  TaskRunner& runner_;
  const MailboxOptions options_;
  // Shared with callbacks of the exchange that may run after the mailbox is destroyed.
  const std::shared_ptr<PendingCalls> calls_ = std::make_shared<PendingCalls>();
  HandlerPool pool_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<const Handler>> handlers_;
  int loss_handler_ = 0;
  int end_handler_ = 0;
};

std::string to_text(int to, std::uint32_t kind) {
  return fmt::format("request of kind {} to member {}", kind, to);
}

ExchangeMailbox::ExchangeMailbox(Exchange& exchange, TaskRunner& runner, MailboxOptions options)
    : exchange_(exchange),
      runner_(runner),
      options_(options),
      pool_({.running_cap = options.running_cap, .thread_cap = options.thread_cap}) {
  exchange_.handle(Channel::kReply, options_.group,
                   [this](int from, const FrameHeader& header, Bytes payload) {
                     on_reply(from, header, std::move(payload));
                   });
  exchange_.handle(Channel::kRequest, options_.group,
                   [this](int from, const FrameHeader& header, Bytes payload) {
                     on_request(from, header, std::move(payload));
                   });
  loss_handler_ = exchange_.on_loss([this](int lost, const Error& why) {
    for (const auto& call : calls_->take_all_of(lost)) call.outcome(why.within(to_text(call.to, call.kind)));
  });
  // Ends the calls that wait, and those that come later.
  end_handler_ = exchange_.on_end([this](const Error& why, Ending) { calls_->close(why); });
  runner_.add(*this);
}

ExchangeMailbox::~ExchangeMailbox() {
  calls_->close(Error(ErrorCode::kAborted, fmt::format("the mailbox of member {} is closed", member())));
  exchange_.remove_loss_handler(loss_handler_);
  exchange_.remove_end_handler(end_handler_);
  exchange_.remove_handler(Channel::kRequest, options_.group);
  exchange_.remove_handler(Channel::kReply, options_.group);
  exchange_.handle(Channel::kRequest, options_.group,
                   [&exchange = exchange_](int from, const FrameHeader& header, const Bytes&) {
                     send_reply(exchange, from, header, Error(ErrorCode::kAborted, "its mailbox is closed"));
                   });
  exchange_.handle(Channel::kReply, options_.group, [](int, const FrameHeader&, const Bytes&) {});
  runner_.remove(*this);
  pool_.close();
}

Result<Bytes> ExchangeMailbox::call(int to, std::uint32_t kind, std::span<const std::byte> request,
                                    TimePoint deadline) {
  // The progress thread ends the call at its deadline. The grace is for a progress thread that is gone.
  constexpr std::chrono::seconds kGrace(5);
  const auto waiting = std::make_shared<CallOutcome>();
  begin(to, kind, Bytes(request.begin(), request.end()), deadline,
        [waiting](Result<Bytes> outcome) { waiting->settle(std::move(outcome)); });
  const HandlerPool::Pause pause(pool_);
  const TimePoint now = exchange_.clock().now();
  const std::chrono::nanoseconds left = deadline > now ? deadline - now : std::chrono::nanoseconds(0);
  if (std::optional<Result<Bytes>> outcome =
          waiting->take_by(left > std::chrono::nanoseconds::max() - kGrace ? left : left + kGrace)) {
    return std::move(*outcome);
  }
  return Error(ErrorCode::kTimedOut, "the progress thread has stopped").within(to_text(to, kind));
}

void ExchangeMailbox::start(int to, std::uint32_t kind, Bytes request, TimePoint deadline,
                            std::function<void(Result<Bytes>)> done) {
  begin(to, kind, std::move(request), deadline, [this, done = std::move(done)](Result<Bytes> outcome) {
    const auto shared = std::make_shared<Result<Bytes>>(std::move(outcome));
    pool_.add({.run = [done, shared] { done(std::move(*shared)); }});
  });
}

void ExchangeMailbox::serve(std::uint32_t kind, Handler handler) {
  const std::lock_guard lock(mutex_);
  handlers_[kind] = std::make_shared<const Handler>(std::move(handler));
}

Status ExchangeMailbox::check(int to, const Bytes& request) const {
  if (to < 0 || to >= num_members()) {
    return Error(ErrorCode::kUsage, fmt::format("there is no member {}", to))
        .with_remedy(fmt::format("Members are 0 … {}.", num_members() - 1));
  }
  if (request.size() > options_.message_cap_bytes) {
    return Error(ErrorCode::kUsage,
                 fmt::format("the request has {}, expected {} or less", format_bytes(request.size()),
                             format_bytes(options_.message_cap_bytes)))
        .with_remedy("Ask in several requests, or raise the cap of the mailbox.");
  }
  return {};
}

void ExchangeMailbox::begin(int to, std::uint32_t kind, Bytes request, TimePoint deadline,
                            PendingCalls::Outcome outcome) {
  if (Status fine = check(to, request); !fine) return outcome(fine.error().within(to_text(to, kind)));
  const TimePoint wanted_before = calls_->wanted_at();
  const std::optional<std::uint64_t> number = calls_->add({to, kind, deadline, std::move(outcome)});
  if (!number) return;
  if (deadline < wanted_before) runner_.wake();
  const FrameHeader header = {.channel = Channel::kRequest,
                              .group = options_.group,
                              .generation = options_.generation,
                              .number = *number,
                              .tag = kind};
  const auto bytes = std::make_shared<Bytes>(std::move(request));
  exchange_.send(to, header, *bytes, [bytes, calls = calls_, to, number](const Status& sent) {
    if (sent) return;
    if (const auto call = calls->take(*number, to)) {
      call->outcome(sent.error().within(to_text(to, call->kind)));
    }
  });
}

void ExchangeMailbox::on_request(int from, const FrameHeader& header, Bytes payload) {
  const auto request = std::make_shared<Bytes>(std::move(payload));
  pool_.add({.run =
                 [this, from, header, request] {
                   send_reply(exchange_, from, header,
                              answer(from, static_cast<std::uint32_t>(header.tag), *request));
                 },
             .refuse =
                 [this, from, header] {
                   send_reply(
                       exchange_, from, header,
                       Error(ErrorCode::kExhausted, "all handler threads wait for replies of other members"));
                 }});
}

Result<Bytes> ExchangeMailbox::answer(int from, std::uint32_t kind, std::span<const std::byte> request) {
  std::shared_ptr<const Handler> handler;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = handlers_.find(kind); found != handlers_.end()) handler = found->second;
  }
  if (!handler) {
    return Error(ErrorCode::kNotFound, fmt::format("no handler serves kind {}", kind))
        .with_remedy("Call serve() before other members send requests.");
  }
  try {
    Result<Bytes> reply = (*handler)(from, request);
    if (!reply || reply->size() <= options_.message_cap_bytes) return reply;
    return Error(ErrorCode::kExhausted,
                 fmt::format("the reply has {}, expected {} or less", format_bytes(reply->size()),
                             format_bytes(options_.message_cap_bytes)));
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return Error(ErrorCode::kBug, error.what());
  }
}

void ExchangeMailbox::on_reply(int from, const FrameHeader& header, Bytes payload) {
  const auto call = calls_->take(header.number, from);
  if (!call) return;  // the call has ended before
  if (header.tag == kFine) return call->outcome(std::move(payload));
  call->outcome(
      decode_error(payload).within(fmt::format("member {} refuses a request of kind {}", from, call->kind)));
}

bool ExchangeMailbox::advance() {
  const auto expired = calls_->take_expired(exchange_.clock().now());
  for (const auto& call : expired) {
    call.outcome(Error(ErrorCode::kTimedOut,
                       fmt::format("no reply to a {} came in time", to_text(call.to, call.kind))));
  }
  return !expired.empty();
}

}  // namespace

std::unique_ptr<Mailbox> make_mailbox(Exchange& exchange, TaskRunner& runner, MailboxOptions options) {
  return std::make_unique<ExchangeMailbox>(exchange, runner, options);
}

}  // namespace cohort::comm
