#include "mpi/outbound.h"

#include "comm/numbers/copy.h"

#include <algorithm>

namespace cohort::mpi {

Outbound::Outbound(const Address& address, const comm::FrameHeader& header,
                   std::span<const std::byte> payload, comm::Transport::Sent sent)
    : address_(address),
      header_(header),
      bytes_(comm::kFrameHeaderBytes + payload.size()),
      sent_(std::move(sent)) {
  encode(header, std::span(bytes_).first<comm::kFrameHeaderBytes>());
  if (!payload.empty()) {
    comm::copy_bytes(bytes_.data() + comm::kFrameHeaderBytes, payload.data(), payload.size());
  }
}

int Outbound::begin(const Library& library) {
  const bool is_short = bytes_.size() <= comm::kFrameHeaderBytes + kInlineBytes;
  std::size_t first = 0;
  std::size_t size = is_short ? bytes_.size() : comm::kFrameHeaderBytes;
  int tag = address_.tag;
  while (first < bytes_.size()) {
    const int code = library.shim().send(library.messages(), bytes_.data() + first, static_cast<int>(size),
                                         address_.world_rank, tag, &requests_.emplace_back());
    if (code != 0) {
      requests_.pop_back();
      return code;
    }
    first += size;
    size = std::min(kPieceBytes, bytes_.size() - first);
    tag = address_.tag + 1;
  }
  return 0;
}

int Outbound::test(const Library& library) {
  int first_code = 0;
  std::erase_if(requests_, [&](CohortMpiHandle& request) {
    int is_done = 0;
    const int code = library.shim().test(&request, &is_done);
    if (code != 0 && first_code == 0) first_code = code;
    return is_done != 0 || code != 0;
  });
  return first_code;
}

}  // namespace cohort::mpi
