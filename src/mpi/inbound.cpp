#include "mpi/inbound.h"

#include "mpi/outbound.h"

#include <algorithm>

namespace cohort::mpi {

int Inbound::begin(const Library& library, const Source& source, int size_bytes) {
  source_ = source;
  bytes_ = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(size_bytes));
  num_received_ = 0;
  piece_bytes_ = bytes_->size();
  state_ = State::kHeader;
  return library.shim().receive(library.messages(), bytes_->data(), size_bytes, source_.world_rank,
                                source_.tag, &request_);
}

int Inbound::advance(const Library& library) {
  while (state_ == State::kHeader || state_ == State::kPayload) {
    int is_done = 0;
    if (const int code = library.shim().test(&request_, &is_done); code != 0) return code;
    if (is_done == 0) return 0;
    num_received_ += piece_bytes_;
    const int code = state_ == State::kHeader ? decode(library) : receive_piece(library);
    if (code != 0) return code;
  }
  return 0;
}

int Inbound::decode(const Library& library) {
  header_ = comm::decode_frame_header(*bytes_);
  if (!header_) {
    state_ = State::kComplete;
    return 0;
  }
  bytes_->resize(comm::kFrameHeaderBytes + header_->size_bytes);
  return receive_piece(library);
}

int Inbound::receive_piece(const Library& library) {
  if (num_received_ >= bytes_->size()) {
    state_ = State::kComplete;
    return 0;
  }
  state_ = State::kPayload;
  piece_bytes_ = std::min(kPieceBytes, bytes_->size() - num_received_);
  return library.shim().receive(library.messages(), bytes_->data() + num_received_,
                                static_cast<int>(piece_bytes_), source_.world_rank, source_.tag + 1,
                                &request_);
}

void Inbound::reset() {
  state_ = State::kIdle;
  bytes_.reset();
}

void Inbound::abandon(Library& library) {
  if (state_ == State::kHeader || state_ == State::kPayload) library.keep(bytes_);
  reset();
}

}  // namespace cohort::mpi
