#include "net/hello.h"
#include "net/out_stream.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace cohort::test {
namespace {

using net::Nonce;

// The example in docs/wire-format.md.

Nonce nonce_of(unsigned fill) {
  Nonce nonce;
  nonce.fill(static_cast<std::byte>(fill));
  return nonce;
}

net::JobKey example_key() {
  net::Secret secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
  return net::JobKey(secret);
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{:02x}{}", static_cast<unsigned>(bytes[i]),
                        i % 16 == 15 || i + 1 == bytes.size() ? "\n" : " ");
  }
  return text;
}

std::vector<std::byte> example_message() {
  const std::string text = "cohort";
  net::OutStream out(net::Guard::kChecksum);
  out.add({.channel = comm::Channel::kMessage,
           .group = 1,
           .generation = 2,
           .number = 3,
           .tag = 4,
           .signature = 5,
           .sequence = 6,
           .size_bytes = text.size()},
          std::as_bytes(std::span(text)), {});
  std::vector<std::byte> bytes;
  for (const iovec& part : out.gather(1000)) {
    const auto* first = static_cast<const std::byte*>(part.iov_base);
    bytes.insert(bytes.end(), first, first + part.iov_len);
  }
  return bytes;
}

std::map<std::string, std::string> expected() {
  const net::JobKey key = example_key();
  const net::Hello hello{.job = key.job(),
                         .from = 1,
                         .to = 0,
                         .session = 0x1122334455667788,
                         .num_taken = 99,
                         .secrecy = net::Secrecy::kTls,
                         .nonce = nonce_of(0xbb)};
  const net::Welcome welcome{.member = 0, .session = 7, .num_taken = 5};
  return {{"challenge", hex(net::Challenge{nonce_of(0xaa)}.encode())},
          {"hello", hex(hello.encode(key, nonce_of(0xaa)))},
          {"welcome", hex(welcome.encode(key, nonce_of(0xaa), nonce_of(0xbb)))},
          {"message", hex(example_message())}};
}

TEST(WireFormat, TheExampleIsWhatIsSent) {
  std::ifstream file(COHORT_WIRE_FORMAT);
  std::stringstream content;
  content << file.rdbuf();
  std::string page = content.str();
  ASSERT_FALSE(page.empty());
  for (const auto& [name, bytes] : expected()) {
    const std::string head = fmt::format("<!-- golden: {} -->\n```hex\n", name);
    const std::size_t begin = page.find(head);
    ASSERT_NE(begin, std::string::npos) << name;
    const std::size_t first = begin + head.size();
    const std::size_t last = page.find("```", first);
    if (std::getenv("COHORT_WRITE_GOLDEN") != nullptr) {
      page.replace(first, last - first, bytes);
    } else {
      EXPECT_EQ(page.substr(first, last - first), bytes) << name;
    }
  }
  if (std::getenv("COHORT_WRITE_GOLDEN") != nullptr) std::ofstream(COHORT_WIRE_FORMAT) << page;
}

}  // namespace
}  // namespace cohort::test
