#pragma once

#include "base/descriptor.h"
#include "net/plain_stream.h"
#include "net/reactor.h"
#include "net/stream.h"

#include <memory>

namespace cohort::net {

/// A connected socket and what is done with it.
struct Connection {
  Connection(Descriptor connected, Reactor& reactor)
      : socket(std::move(connected)),
        watch(reactor.watch(socket.number())),
        stream(std::make_unique<PlainStream>(socket.number())) {}

  Descriptor socket;
  std::unique_ptr<Watch> watch;  // before the socket goes
  std::unique_ptr<Stream> stream;
  bool is_prepared = false;
};

}  // namespace cohort::net
