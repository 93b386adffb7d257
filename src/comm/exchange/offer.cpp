#include "comm/exchange/offer.h"

#include "base/byte_stream.h"

#include <array>

namespace cohort::comm {

std::vector<std::byte> encode(const MessageOffer& offer) {
  ByteWriter writer;
  writer.number(offer.ticket).number(offer.num_sent);
  if (offer.message) {
    std::array<std::byte, kFrameHeaderBytes> header{};
    encode(*offer.message, header);
    writer.bytes(header);
  }
  return writer.take();
}

Result<MessageOffer> decode_offer(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  MessageOffer offer;
  offer.ticket = reader.number<std::uint64_t>("ticket");
  offer.num_sent = reader.number<std::uint64_t>("num_sent");
  COHORT_RETURN_IF_ERROR(reader.mistake("offer"));
  if (reader.is_at_end()) return offer;
  COHORT_ASSIGN_OR_RETURN(offer.message, decode_frame_header(reader.rest()));
  return offer;
}

std::vector<std::byte> encode(const OfferAnswer& answer) {
  return ByteWriter()
      .number(answer.ticket)
      .number(static_cast<std::uint8_t>(answer.verdict))
      .number(answer.num_sent)
      .number(answer.room_bytes)
      .take();
}

Result<OfferAnswer> decode_offer_answer(std::span<const std::byte> bytes) {
  constexpr auto kLast = static_cast<std::uint8_t>(OfferAnswer::Verdict::kDrop);
  ByteReader reader(bytes);
  OfferAnswer answer;
  answer.ticket = reader.number<std::uint64_t>("ticket");
  answer.verdict = static_cast<OfferAnswer::Verdict>(reader.number_within<std::uint8_t>("verdict", 0, kLast));
  answer.num_sent = reader.number<std::uint64_t>("num_sent");
  answer.room_bytes = reader.number<std::uint64_t>("room_bytes");
  COHORT_RETURN_IF_ERROR(reader.finish("answer to an offer"));
  return answer;
}

}  // namespace cohort::comm
