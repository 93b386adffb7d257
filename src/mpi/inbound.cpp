#include "mpi/inbound.h"

#include "mpi/outbound.h"

#include <algorithm>

namespace cohort::mpi {

int Inbound::begin(const Library& library, const Source& source, int size_bytes) {
  source_ = source;
  bytes_ = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(size_bytes));
  num_received_ = 0;
  piece_bytes_ = bytes_->size();
  stage_ = Stage::kHeader;
  return library.shim().receive(library.messages(), bytes_->data(), size_bytes, source_.world_rank,
                                source_.tag, &request_);
}

int Inbound::advance(const Library& library) {
  while (stage_ == Stage::kHeader || stage_ == Stage::kPayload) {
    int is_done = 0;
    if (const int code = library.shim().test(&request_, &is_done); code != 0) return code;
    if (is_done == 0) return 0;
    num_received_ += piece_bytes_;
    const int code = stage_ == Stage::kHeader ? decode(library) : receive_piece(library);
    if (code != 0) return code;
  }
  return 0;
}

int Inbound::decode(const Library& library) {
  header_ = comm::decode_frame_header(*bytes_);
  if (!header_) {
    stage_ = Stage::kComplete;
    return 0;
  }
  bytes_->resize(comm::kFrameHeaderBytes + header_->size_bytes);
  return receive_piece(library);
}

int Inbound::receive_piece(const Library& library) {
  if (num_received_ >= bytes_->size()) {
    stage_ = Stage::kComplete;
    return 0;
  }
  stage_ = Stage::kPayload;
  piece_bytes_ = std::min(kPieceBytes, bytes_->size() - num_received_);
  return library.shim().receive(library.messages(), bytes_->data() + num_received_,
                                static_cast<int>(piece_bytes_), source_.world_rank, source_.tag + 1,
                                &request_);
}

void Inbound::reset() {
  stage_ = Stage::kIdle;
  bytes_.reset();
}

void Inbound::abandon(Library& library) {
  if (stage_ == Stage::kHeader || stage_ == Stage::kPayload) library.keep(bytes_);
  reset();
}

}  // namespace cohort::mpi
