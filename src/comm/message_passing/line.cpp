#include "comm/message_passing/line.h"

#include "base/check.h"
#include "comm/message_passing/inbox.h"

#include <algorithm>

namespace cohort::comm {
namespace {

void hear_notice(Inbox& inbox, int from, const FrameHeader&, std::span<const std::byte> payload) {
  Result<Notice> notice = decode_notice(payload);
  if (notice) {
    inbox.post(Noticed{from, std::move(*notice)});
  } else {
    inbox.post(Lost{from, notice.error()});
  }
}

void hear_question(Inbox& inbox, int from, const FrameHeader& header, std::span<const std::byte>) {
  inbox.post(Asked{from, header.number});
}

void hear_answer(Inbox& inbox, int from, const FrameHeader& header, std::span<const std::byte>) {
  inbox.post(Answered{from, header.number, header.tag});
}

}  // namespace

Line::Line(Exchange& exchange, std::shared_ptr<Inbox> inbox, Membership membership)
    : exchange_(exchange), inbox_(std::move(inbox)), membership_(std::move(membership)) {}

FrameHeader Line::header(const MessageName& name) const {
  return {.channel = name.channel,
          .group = membership_.group,
          .generation = membership_.generation,
          .number = name.number,
          .tag = name.tag,
          .signature = name.signature};
}

void Line::send(int to, const MessageName& name, std::span<const std::byte> payload, Ticket ticket) {
  exchange_.send(member(to), header(name), payload, [inbox = inbox_, ticket](const Status& outcome) {
    inbox->post(Landed{ticket.flight, ticket.number, outcome});
  });
}

void Line::recv(int from, const MessageName& name, std::span<std::byte> into, Ticket ticket) {
  exchange_.recv(member(from), header(name), into, [inbox = inbox_, ticket](const Status& outcome) {
    inbox->post(Landed{ticket.flight, ticket.number, outcome});
  });
}

void Line::take_turns(Ticket ticket) {
  inbox_->post(Landed{ticket.flight, ticket.number, {}});
}

void Line::post(int to, const FrameHeader& header, std::vector<std::byte> payload) {
  // The callback keeps the payload until it is sent. Its outcome is ignored.
  auto kept = std::make_shared<const std::vector<std::byte>>(std::move(payload));
  exchange_.send(member(to), header, *kept, [kept](const Status&) {});
}

void Line::ask_all(std::uint64_t number) {
  for (int r = 0; r < size(); ++r) {
    if (r != rank()) post(r, header({.channel = Channel::kQuery, .number = number}), {});
  }
}

void Line::answer(int to, std::uint64_t number, std::uint64_t num_started) {
  post(to, header({.channel = Channel::kAnswer, .number = number, .tag = num_started}), {});
}

void Line::notify_all(const Notice& notice) {
  for (int r = 0; r < size(); ++r) {
    if (r != rank()) post(r, header({.channel = Channel::kAbort}), encode(notice));
  }
}

void Line::listen_on(Channel channel,
                     void (*hear)(Inbox&, int, const FrameHeader&, std::span<const std::byte>)) {
  exchange_.handle(channel, membership_.group,
                   [inbox = inbox_, membership = membership_, hear](int from, const FrameHeader& header,
                                                                    const std::vector<std::byte>& payload) {
                     const auto at = std::find(membership.members.begin(), membership.members.end(), from);
                     if (at == membership.members.end() || header.generation != membership.generation) return;
                     hear(*inbox, static_cast<int>(at - membership.members.begin()), header, payload);
                   });
}

void Line::listen() {
  listen_on(Channel::kAbort, hear_notice);
  listen_on(Channel::kQuery, hear_question);
  listen_on(Channel::kAnswer, hear_answer);
  loss_handler_ =
      exchange_.on_loss([inbox = inbox_, members = membership_.members](int member, const Error& why) {
        const auto at = std::find(members.begin(), members.end(), member);
        if (at != members.end()) inbox->post(Lost{static_cast<int>(at - members.begin()), why});
      });
  end_handler_ = exchange_.on_end([inbox = inbox_](const Error& why, Ending ending) {
    inbox->post(Ended{why, ending});
  });
}

void Line::stop_listening() {
  exchange_.remove_loss_handler(loss_handler_);
  exchange_.remove_end_handler(end_handler_);
  for (const Channel channel : {Channel::kAbort, Channel::kQuery, Channel::kAnswer}) {
    exchange_.remove_handler(channel, membership_.group);
  }
}

void Line::cancel() {
  exchange_.cancel(membership_.group, membership_.generation);
}

}  // namespace cohort::comm
