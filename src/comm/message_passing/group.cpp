#include "comm/message_passing/group.h"

#include "base/units.h"
#include "comm/group/rank_text.h"
#include "comm/message_passing/collective_flight.h"
#include "comm/message_passing/message_flight.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::comm {
namespace {

bool is_message(const Call& call) {
  return call.operation == Operation::kSend || call.operation == Operation::kReceive;
}

}  // namespace

Group::Group(Exchange& exchange, TaskRunner& runner, GroupFacts facts, Line::Membership membership,
             MessagePassingOptions options)
    : runner_(runner),
      clock_(exchange.clock()),
      facts_(std::move(facts)),
      options_(std::move(options)),
      inbox_(std::make_shared<Inbox>()),
      line_(exchange, inbox_, std::move(membership)) {
  line_.listen();
}

Work Group::start(const Call& call) {
  Schedule schedule;
  if (!is_message(call)) schedule = plan(call, facts_.rank, facts_.world, options_.plan);
  const TimePoint deadline = deadline_after(clock_.now(), *call.limit);
  auto completion = std::make_shared<Completion>(deadline_after(deadline, options_.grace));
  {
    const std::lock_guard lock(mutex_);
    if (failure_) {
      return Work::finished(
          failure_->within(fmt::format("rank {}: {} in group '{}', which has failed",
                                       facts_.own_global_rank(), facts_.text_of(call), facts_.name)));
    }
    inbox_->post(make_flight(call, std::move(schedule), completion));
  }
  runner_.wake();
  return Work(std::move(completion));
}

std::unique_ptr<Flight> Group::make_flight(const Call& call, Schedule&& schedule,
                                           std::shared_ptr<Completion> completion) {
  Flight::Facts facts{.call = call,
                      .id = next_id_++,
                      .deadline = deadline_after(clock_.now(), *call.limit),
                      .completion = std::move(completion)};
  facts.matcher = matcher_for(call);
  if (facts.matcher) return std::make_unique<MessageFlight>(std::move(facts));
  if (is_message(call)) {
    facts.number = ++num_messages_[{call.operation, call.peer, call.tag}];
    return std::make_unique<MessageFlight>(std::move(facts));
  }
  facts.number = ++num_started_;
  return std::make_unique<CollectiveFlight>(std::move(facts), std::move(schedule), facts_.rank, facts_.world,
                                            *scratch_pool_);
}

void Group::abort(const Error& cause) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = cause.within(fmt::format("rank {} aborted group '{}' (generation {})",
                                        facts_.own_global_rank(), facts_.name, facts_.generation));
  }
  runner_.wake();
}

std::optional<Error> Group::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool Group::advance() {
  if (is_over_) {
    // No call is in flight and no call begins: later events are dropped.
    (void)inbox_->take();
    return false;
  }
  std::vector<Event> events = inbox_->take();
  for (Event& event : events) {
    std::visit([this](auto& one) { handle(one); }, event);
  }
  bool moved = !events.empty();
  moved = look_at_the_time() || moved;
  if (!is_over_ && failure()) {
    wind_up();
    moved = true;
  }
  if (!is_over_ && is_watching_ != !flights_.empty()) {
    is_watching_ = !is_watching_;
    is_watching_ ? exchange().watch(this) : exchange().unwatch(this);
  }
  return moved;
}

TimePoint Group::wanted_at() const {
  TimePoint at = TimePoint::max();
  for (const auto& [id, flight] : flights_) {
    if (!roll_call_) at = std::min(at, flight->facts().deadline);
  }
  for (const auto& [id, suspicion] : suspicions_) at = std::min(at, suspicion.until);
  if (roll_call_) at = std::min(at, roll_call_->until());
  return at;
}

void Group::handle(std::unique_ptr<Flight>& flight) {
  const std::uint64_t id = flight->facts().id;
  Flight& begun = *flights_.emplace(id, std::move(flight)).first->second;
  begun.begin(line_);
  if (begun.facts().matcher) {
    AnyRankMatcher& matcher = matchers_.at(*begun.facts().matcher);
    matcher.waiting().push_back(id);
    match(matcher);
    if (failure()) return;
  }
  for (const auto& [rank, gone] : gone_) {
    const bool is_send_to_it = begun.call().operation == Operation::kSend && begun.waits_for(rank);
    if (is_hopeless(begun, rank) || (gone.has_left && is_send_to_it)) return fail(begun, loss_text());
    if (!gone.has_left || begun.waits_for(rank) || waits_for_no_rank(begun)) suspect(begun, loss_text());
  }
  settle_if_done(id);
}

void Group::handle(const Landed& landed) {
  if (const auto matcher = matchers_.find(landed.flight); matcher != matchers_.end()) {
    return take_description(matcher->second, landed);
  }
  const auto at = flights_.find(landed.flight);
  if (at == flights_.end()) return;
  Flight& flight = *at->second;
  if (!landed.outcome) return fault(flight, landed.ticket, landed.outcome.error());
  if (Status fine = flight.landed(line_, landed.ticket); !fine) return fail(flight, fine.error());
  settle_if_done(landed.flight);
}

void Group::settle_if_done(std::uint64_t id) {
  const auto at = flights_.find(id);
  if (!at->second->is_done()) return;
  const std::unique_ptr<Flight> flight = std::move(at->second);
  flights_.erase(at);
  suspicions_.erase(id);
  if (roll_call_ && roll_call_->flight() == id) roll_call_.reset();
  flight->facts().completion->settle({});
}

void Group::fault(Flight& flight, int ticket, const Error& why) {
  const int peer = flight.peer_of(ticket);
  if (why.code() != ErrorCode::kPeerLost) return suspect(flight, why);
  const auto gone = gone_.find(peer);
  const bool receiver_is_done = gone != gone_.end() && gone->second.has_left && flight.is_collective() &&
                                flight.facts().number <= gone->second.num_completed;
  if (flight.is_send(ticket) && receiver_is_done) return handle(Landed{flight.facts().id, ticket, {}});
  // A send ends as soon as its receiver is lost. Messages that came from that rank before, such as the report
  // of its failure, may not have been handled yet; the exchange tells of the loss after them.
  if (flight.is_send(ticket) && gone == gone_.end()) {
    unsent_[peer].push_back(flight.facts().id);
    return suspect(flight, why);
  }
  mark_gone(peer, {.why = why});
  fail(flight, loss_text());
}

// The flight will probably fail. But the messages that it needs may have come already; or another rank that
// compares calls knows the cause, and its report is better.
void Group::suspect(const Flight& flight, const Error& why) {
  suspicions_.try_emplace(flight.facts().id, Suspicion{why, deadline_after(clock_.now(), options_.grace)});
}

void Group::handle(const Noticed& noticed) {
  const Notice& notice = noticed.notice;
  if (notice.kind == Notice::Kind::kFailed) return fail_as_told(notice.why);
  mark_gone(noticed.from, {.has_left = true, .num_completed = notice.num_completed, .why = notice.why});
  for (const auto& [id, flight] : flights_) {
    if (is_hopeless(*flight, noticed.from)) return fail(*flight, loss_text());
    if (flight->waits_for(noticed.from) || waits_for_no_rank(*flight)) suspect(*flight, loss_text());
  }
}

// The exchange ends the receives from a lost rank, after the messages that came before the loss. A flight
// that needs the rank fails then, and tells the other ranks.
void Group::handle(const Lost& lost) {
  if (lost.rank == facts_.rank) return;
  mark_gone(lost.rank, {.why = lost.why});
  for (const std::uint64_t id : std::exchange(unsent_[lost.rank], {})) {
    const auto flight = flights_.find(id);
    if (flight != flights_.end()) return fail(*flight->second, loss_text());
  }
}

void Group::handle(const Ended& ended) {
  if (ended.ending == Ending::kTold) return abort(ended.why);
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  failure_ = ended.why;
  ends_quietly_ = true;
}

void Group::mark_gone(int rank, Gone gone) {
  if (gone_.emplace(rank, std::move(gone)).second && !first_gone_) first_gone_ = rank;
}

// A rank that has left without doing its part in a collective never will. A message between two ranks is
// different: it may have been received although its sender does not know yet.
bool Group::is_hopeless(const Flight& flight, int rank) const {
  const auto gone = gone_.find(rank);
  if (gone == gone_.end() || !gone->second.has_left || !flight.is_collective()) return false;
  return flight.facts().number > gone->second.num_completed;
}

// The flight receives from any rank, and all other ranks are gone. A message may have come before.
bool Group::waits_for_no_rank(const Flight& flight) const {
  return flight.waits_for(kAnyRank) && static_cast<int>(gone_.size()) + 1 >= facts_.world;
}

// The first rank that is gone is the cause: the others gave up because of it.
Error Group::loss_text() const {
  const Gone& gone = gone_.at(*first_gone_);
  const char* what = gone.has_left ? "has left" : "is lost";
  const int rank = facts_.global_rank(*first_gone_);
  return Error(ErrorCode::kPeerLost, gone.why.message())
      .within(fmt::format("rank {} {}", rank, what))
      .with_rank(rank)
      .with_remedy(fmt::format(
          "Look at what rank {} said last; form a new group without it, or start it again.", rank));
}

void Group::handle(const Asked& asked) {
  std::uint64_t num_started = 0;
  {
    const std::lock_guard lock(mutex_);
    num_started = num_started_;
  }
  line_.answer(asked.from, asked.number, num_started);
}

void Group::handle(const Answered& answered) {
  if (roll_call_ && roll_call_->number() == answered.number) {
    roll_call_->answered(answered.from, answered.num_started);
  }
}

bool Group::look_at_the_time() {
  if (flights_.empty()) return false;
  const TimePoint now = clock_.now();
  for (const auto& [id, suspicion] : suspicions_) {
    if (now < suspicion.until) continue;
    fail(*flights_.at(id), suspicion.why);
    return true;
  }
  if (roll_call_) return judge_roll_call();
  for (const auto& [id, flight] : flights_) {
    if (now < flight->facts().deadline) continue;
    roll_call_.emplace(id, flight->facts().number, deadline_after(now, options_.grace));
    if (flight->is_collective()) line_.ask_all(flight->facts().number);
    return true;
  }
  return false;
}

bool Group::judge_roll_call() {
  const Flight& flight = *flights_.at(roll_call_->flight());
  const bool is_settled = !flight.is_collective() || roll_call_->is_complete(facts_.world);
  if (!is_settled && clock_.now() < roll_call_->until()) return false;
  fail(flight, absence(flight));
  return true;
}

Error Group::absence(const Flight& flight) const {
  if (flight.waits_for(kAnyRank)) {
    return Error(ErrorCode::kTimedOut, "no rank has sent anything under this tag")
        .with_remedy("Send under this tag from another rank, or give a longer timeout.");
  }
  const std::vector<int> missing =
      facts_.global(flight.is_collective() ? roll_call_->missing(facts_.rank, facts_.world)
                                           : std::vector<int>{flight.call().peer});
  std::string words;
  if (!missing.empty()) {
    words = ranks_have(missing) + " not arrived";
  } else {
    words = "every rank has arrived, but not all of their numbers have";
    for (const int peer : flight.pending_peers()) {
      words += fmt::format("; still open: rank {}", facts_.global_rank(peer));
    }
  }
  const Error error =
      Error(ErrorCode::kTimedOut, std::move(words))
          .with_remedy(fmt::format(
              "Find out what keeps them from making this call within {}, or give a longer timeout.",
              format_duration(*flight.call().limit)));
  return missing.empty() ? error : error.with_rank(missing.front());
}

void Group::fail(const Flight& flight, const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = why.within(text(flight));
  }
  failed_flight_ = flight.facts().id;
}

void Group::fail_as_told(const Error& why) {
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  failure_ = why;
  is_told_ = true;
}

void Group::wind_up() {
  const Error why = *failure();
  if (ends_quietly_) {
    return end(why,
               {Notice::Kind::kLeft, num_completed(), Error(ErrorCode::kPeerLost, "its generation is over")});
  }
  if (options_.on_failure) options_.on_failure(why);
  end(why, {Notice::Kind::kFailed, num_completed(), why});
}

// After cancel() the memory of calls is not touched any more; only then do callers hear that their calls are
// over.
void Group::end(const Error& why, const Notice& notice) {
  line_.cancel();
  if (!is_told_) line_.notify_all(notice);
  is_over_ = true;
  if (std::exchange(is_watching_, false)) exchange().unwatch(this);
  settle_all(why);
}

void Group::settle_all(const Error& why) {
  // Calls that were started but not handled before the failure end with it, too.
  for (Event& event : inbox_->take()) {
    if (auto* flight = std::get_if<std::unique_ptr<Flight>>(&event)) {
      const std::uint64_t id = (*flight)->facts().id;
      flights_.emplace(id, std::move(*flight));
    }
  }
  suspicions_.clear();
  roll_call_.reset();
  const Flights ended_flights = std::exchange(flights_, {});
  for (const auto& [id, flight] : ended_flights) flight->facts().completion->settle(ended(*flight, why));
}

Error Group::ended(const Flight& flight, const Error& why) const {
  if (failed_flight_ == flight.facts().id) return why;
  return why.within(text(flight));
}

void Group::leave() {
  if (!is_over_ && failure()) wind_up();
  // The rank that failed has told all others, but a rank may see this one leave before it hears of the
  // failure.
  if (is_told_) line_.notify_all({Notice::Kind::kFailed, num_completed(), *failure()});
  if (!is_over_) {
    const Error gone(ErrorCode::kAborted, fmt::format("the communicator of rank {} in group '{}' is gone",
                                                      facts_.own_global_rank(), facts_.name));
    end(gone,
        {Notice::Kind::kLeft, num_completed(), Error(ErrorCode::kPeerLost, "its communicator is gone")});
  }
  line_.stop_listening();
}

std::uint64_t Group::num_completed() const {
  // Calls that are still in the inbox have higher numbers than all flights.
  for (const auto& [id, flight] : flights_) {
    if (flight->is_collective()) return flight->facts().number - 1;
  }
  const std::lock_guard lock(mutex_);
  return num_started_;
}

std::string Group::waiting_call() const {
  return flights_.empty() ? fmt::format("group '{}'", facts_.name) : text(*flights_.begin()->second);
}

std::string Group::text(const Flight& flight) const {
  return fmt::format("rank {}: {}, {} {} of group '{}' (generation {})", facts_.own_global_rank(),
                     facts_.text_of(flight.call()), flight.is_collective() ? "call" : "message",
                     flight.facts().number, facts_.name, facts_.generation);
}

}  // namespace cohort::comm
