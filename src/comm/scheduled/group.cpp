#include "comm/scheduled/group.h"

#include "base/units.h"
#include "comm/scheduled/collective_flight.h"
#include "comm/scheduled/message_flight.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::comm {
namespace {

bool is_message(const Call& call) {
  return call.operation == Operation::kSend || call.operation == Operation::kReceive;
}

}  // namespace

Group::Group(Exchange& exchange, TaskRunner& runner, GroupFacts facts, Line::Place place,
             ScheduledOptions options)
    : runner_(runner),
      clock_(exchange.clock()),
      facts_(std::move(facts)),
      options_(std::move(options)),
      inbox_(std::make_shared<Inbox>()),
      line_(exchange, inbox_, std::move(place)) {
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
      return Work::finished(failure_->within(
          fmt::format("rank {}: {} in group '{}', which has failed", facts_.rank, call.text(), facts_.name)));
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
  facts.ears = ears_for(call);
  if (facts.ears) return std::make_unique<MessageFlight>(std::move(facts));
  if (is_message(call)) {
    facts.number = ++num_messages_[{call.operation, call.peer, call.tag}];
    return std::make_unique<MessageFlight>(std::move(facts));
  }
  facts.number = ++num_started_;
  return std::make_unique<CollectiveFlight>(std::move(facts), std::move(schedule), facts_.rank, facts_.world,
                                            *scratch_pool_);
}

// Whoever receives from anybody under a tag takes part in the order of all that receive under it afterwards.
std::optional<std::uint64_t> Group::ears_for(const Call& call) {
  if (call.operation != Operation::kReceive) return std::nullopt;
  const auto known = ears_of_tags_.find(call.tag);
  if (known != ears_of_tags_.end()) return known->second;
  if (call.peer != kAnyRank) return std::nullopt;
  std::vector<std::uint64_t> next;
  for (int rank = 0; rank < facts_.world; ++rank) {
    next.push_back(num_messages_[{Operation::kReceive, rank, call.tag}] + 1);
  }
  const std::uint64_t id = next_id_++;
  ears_of_tags_.emplace(call.tag, id);
  inbox_->post(Pricked{id, call.tag, std::move(next)});
  return id;
}

void Group::abort(const Error& cause) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = cause.within(fmt::format("rank {} aborted group '{}' (generation {})", facts_.rank,
                                        facts_.name, facts_.generation));
  }
  runner_.wake();
}

std::optional<Error> Group::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool Group::advance() {
  if (is_over_) {
    // Nothing is under way and nothing begins; what still comes in is of no interest.
    (void)inbox_->take();
    return false;
  }
  std::vector<Event> events = inbox_->take();
  for (Event& event : events) {
    std::visit([this](auto& one) { handle(one); }, event);
  }
  bool moved = !events.empty();
  moved = look_at_the_time() || moved;
  if (failure()) {
    wind_up();
    moved = true;
  }
  if (!is_over_ && is_watching_ != !flights_.empty()) {
    is_watching_ = !is_watching_;
    is_watching_ ? exchange().watch() : exchange().unwatch();
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
  if (begun.facts().ears) {
    Ears& ears = ears_.at(*begun.facts().ears);
    ears.waiting().push_back(id);
    match(ears);
    if (failure()) return;
  }
  for (const auto& [rank, gone] : gone_) {
    const bool is_send_to_nobody = begun.call().operation == Operation::kSend && begun.waits_for(rank);
    if (is_hopeless(begun, rank) || (gone.has_left && is_send_to_nobody)) return fail(begun, loss_text());
    if (!gone.has_left || begun.waits_for(rank) || waits_for_nobody(begun)) suspect(begun, loss_text());
  }
  settle_if_done(id);
}

void Group::handle(Pricked& pricked) {
  const auto at = ears_.try_emplace(pricked.ears, pricked.ears, pricked.tag, std::move(pricked.next)).first;
  at->second.listen_to_all(line_);
}

void Group::hear(Ears& ears, const Landed& landed) {
  if (landed.outcome) {
    ears.hear(landed.ticket);
    return match(ears);
  }
  const Error& why = landed.outcome.error();
  const bool is_lost = why.code() == ErrorCode::kPeerLost;
  if (is_lost) mark_gone(landed.ticket, {.why = why});
  for (const std::uint64_t id : ears.waiting()) {
    Flight& flight = *flights_.at(id);
    if (is_lost && flight.waits_for(landed.ticket)) return fail(flight, loss_text());
    if (is_lost && waits_for_nobody(flight)) suspect(flight, loss_text());
    if (!is_lost && (flight.waits_for(landed.ticket) || flight.waits_for(kAnyRank))) suspect(flight, why);
  }
}

void Group::match(Ears& ears) {
  std::deque<std::uint64_t>& waiting = ears.waiting();
  for (auto at = waiting.begin(); at != waiting.end();) {
    auto& flight = static_cast<MessageFlight&>(*flights_.at(*at));
    const std::optional<Ears::Heard> heard = ears.take(flight.peer_of(kNumbersPart), line_);
    if (!heard) {
      ++at;
      continue;
    }
    at = waiting.erase(at);
    if (Status fine = flight.begins(line_, *heard); !fine) return fail(flight, fine.error());
  }
}

void Group::handle(const Landed& landed) {
  if (const auto ears = ears_.find(landed.flight); ears != ears_.end()) return hear(ears->second, landed);
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
  mark_gone(peer, {.why = why});
  fail(flight, loss_text());
}

// It will hardly end well. But what is needed may have come already; or what is wrong is known to another
// rank that compares calls, and its word is better.
void Group::suspect(const Flight& flight, const Error& why) {
  suspicions_.try_emplace(flight.facts().id, Suspicion{why, deadline_after(clock_.now(), options_.grace)});
}

void Group::handle(const Noticed& noticed) {
  const Notice& notice = noticed.notice;
  if (notice.kind == Notice::Kind::kFailed) return fail_as_told(notice.why);
  mark_gone(noticed.from, {.has_left = true, .num_completed = notice.num_completed, .why = notice.why});
  for (const auto& [id, flight] : flights_) {
    if (is_hopeless(*flight, noticed.from)) return fail(*flight, loss_text());
    if (flight->waits_for(noticed.from) || waits_for_nobody(*flight)) suspect(*flight, loss_text());
  }
}

// What waits for its messages hears of the loss from the exchange, and may still get what came before it.
// Whoever needs the lost rank tells the others.
void Group::handle(const Lost& lost) {
  if (lost.rank != facts_.rank) mark_gone(lost.rank, {.why = lost.why});
}

void Group::mark_gone(int rank, Gone gone) {
  if (gone_.emplace(rank, std::move(gone)).second && !first_gone_) first_gone_ = rank;
}

// A rank that left without having done its part in a call never will. It may have left with a message,
// though, of which the sender does not know yet that it was sent.
bool Group::is_hopeless(const Flight& flight, int rank) const {
  const auto gone = gone_.find(rank);
  if (gone == gone_.end() || !gone->second.has_left || !flight.is_collective()) return false;
  return flight.facts().number > gone->second.num_completed;
}

// It would take a message of anybody, and everybody is gone. One may have come before.
bool Group::waits_for_nobody(const Flight& flight) const {
  return flight.waits_for(kAnyRank) && static_cast<int>(gone_.size()) + 1 >= facts_.world;
}

// Of several that are gone the first is the reason; the others gave up because of it.
Error Group::loss_text() const {
  const Gone& gone = gone_.at(*first_gone_);
  const char* what = gone.has_left ? "has left" : "is lost";
  return Error(ErrorCode::kPeerLost, gone.why.message())
      .within(fmt::format("rank {} {}", *first_gone_, what))
      .with_remedy(fmt::format(
          "Look at what rank {} said last; form a new group without it, or start it again.", *first_gone_));
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
        .with_remedy("Let somebody send, or give it more time.");
  }
  std::vector<int> missing = flight.is_collective() ? roll_call_->missing(facts_.rank, facts_.world)
                                                    : std::vector<int>{flight.call().peer};
  std::string words;
  if (!missing.empty()) {
    words = absence_text(missing);
  } else {
    words = "every rank has arrived, but not all of their numbers have";
    for (const int peer : flight.pending_peers()) words += fmt::format("; still open: rank {}", peer);
  }
  return Error(ErrorCode::kTimedOut, std::move(words))
      .with_remedy(
          fmt::format("Find out what keeps them from making this call within {}, or give it more time.",
                      format_duration(*flight.call().limit)));
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
  if (options_.on_failure) options_.on_failure(why);
  end(why, {Notice::Kind::kFailed, num_completed(), why});
}

// From now on nothing moves. The memory of calls is let go before anybody hears that they are over.
void Group::end(const Error& why, const Notice& notice) {
  line_.cancel();
  if (!is_told_) line_.notify_all(notice);
  is_over_ = true;
  if (std::exchange(is_watching_, false)) exchange().unwatch();
  settle_all(why);
}

void Group::settle_all(const Error& why) {
  // What began and was not looked at before the failure ends with it, too.
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
  if (!is_over_) {
    const Error gone(ErrorCode::kAborted, fmt::format("the communicator of rank {} in group '{}' is gone",
                                                      facts_.rank, facts_.name));
    end(gone,
        {Notice::Kind::kLeft, num_completed(), Error(ErrorCode::kPeerLost, "its communicator is gone")});
  }
  line_.stop_listening();
}

std::uint64_t Group::num_completed() const {
  // Calls that were posted and not looked at yet come after all flights.
  for (const auto& [id, flight] : flights_) {
    if (flight->is_collective()) return flight->facts().number - 1;
  }
  const std::lock_guard lock(mutex_);
  return num_started_;
}

std::string Group::text(const Flight& flight) const {
  return fmt::format("rank {}: {}, {} {} of group '{}' (generation {})", facts_.rank, flight.call().text(),
                     flight.is_collective() ? "call" : "message", flight.facts().number, facts_.name,
                     facts_.generation);
}

}  // namespace cohort::comm
