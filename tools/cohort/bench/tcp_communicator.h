#pragma once

#include "bench/bench_communicator.h"
#include "net/station.h"

namespace cohort::tool {

/// Joins the other ranks by sockets, though they are on the same host: what ranks of different hosts have.
Result<BenchCommunicator> make_tcp_communicator(const BenchSeat& seat, net::Secrecy secrecy);

}  // namespace cohort::tool
