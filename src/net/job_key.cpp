#include "net/job_key.h"

#include "base/check.h"
#include "base/descriptor.h"
#include "base/system_error.h"

#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cohort::net {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

Error no_key(const std::string& why) {
  return Error(ErrorCode::kCorrupt, "invalid job key: " + why)
      .with_remedy("Use the key that the launcher made for this job, or make one with `cohort key FILE`.");
}

Mac hmac(const Secret& key, std::string_view purpose, std::span<const std::byte> bytes) {
  // The length of the purpose keeps two different (purpose, bytes) from giving the same message.
  std::string message(1, static_cast<char>(purpose.size()));
  message += purpose;
  message.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Mac mac{};
  unsigned length = 0;
  const auto* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                          reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                          reinterpret_cast<unsigned char*>(mac.data()), &length);
  COHORT_CHECK(done != nullptr && length == mac.size());
  return mac;
}

}  // namespace

Status fill_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("cannot read random numbers from the kernel", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

JobKey::~JobKey() {
  OPENSSL_cleanse(secret_.data(), secret_.size());
}

Result<JobKey> JobKey::make() {
  Secret secret;
  COHORT_RETURN_IF_ERROR(fill_random(secret));
  return JobKey(secret);
}

Result<JobKey> JobKey::parse(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text.size() != 2 * kKeyBytes) return no_key(fmt::format("{} characters, expected 64", text.size()));
  Secret secret{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = kDigits.find(text[i]);
    if (digit == std::string_view::npos) {
      return no_key(fmt::format("character {} is not a lower-case hexadecimal digit", i + 1));
    }
    secret[i / 2] = static_cast<std::byte>(static_cast<unsigned>(secret[i / 2]) * 16 + digit);
  }
  return JobKey(secret);
}

std::string JobKey::text() const {
  std::string text;
  for (const std::byte byte : secret_) {
    text += kDigits[static_cast<std::size_t>(byte) / 16];
    text += kDigits[static_cast<std::size_t>(byte) % 16];
  }
  return text + "\n";
}

Result<JobKey> JobKey::read(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const std::string what = fmt::format("cannot read the job's key in '{}'", path);
  if (!file.is_open()) return system_error(what, errno);
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0) return system_error(what, errno);
  if ((facts.st_mode & 077) != 0) {
    return Error(ErrorCode::kPermission, fmt::format("the job's key in '{}' has mode {:04o}, expected 0600",
                                                     path, static_cast<unsigned>(facts.st_mode & 07777)))
        .with_remedy("Make a new key, in a file of mode 0600.");
  }
  return read_descriptor(file.number()).within(what);
}

Result<JobKey> JobKey::read_descriptor(int descriptor) {
  std::array<char, 2 * kKeyBytes + 2> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  if (got < 0) {
    return system_error(fmt::format("cannot read the job's key from descriptor {}", descriptor), errno);
  }
  auto key = parse({text.data(), static_cast<std::size_t>(got)});
  OPENSSL_cleanse(text.data(), text.size());
  return key;
}

Status JobKey::write(const std::string& path) const {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const std::string what = fmt::format("cannot write the job's key to '{}'", path);
  if (!file.is_open()) return system_error(what, errno);
  std::string content = text();
  const ssize_t put = ::write(file.number(), content.data(), content.size());
  const int failure = errno;
  OPENSSL_cleanse(content.data(), content.size());
  if (put == static_cast<ssize_t>(content.size())) return {};
  ::unlink(path.c_str());
  return system_error(what, put < 0 ? failure : ENOSPC);
}

std::uint64_t JobKey::job() const {
  const Mac mac = hmac(secret_, "job", {});
  std::uint64_t job = 0;
  std::memcpy(&job, mac.data(), sizeof job);
  return job;
}

Secret JobKey::derive(std::string_view purpose) const {
  return hmac(secret_, "derive", std::as_bytes(std::span(purpose)));
}

Mac JobKey::sign(std::string_view purpose, std::span<const std::byte> bytes) const {
  return hmac(derive(purpose), purpose, bytes);
}

bool JobKey::verify(std::string_view purpose, std::span<const std::byte> bytes, const Mac& mac) const {
  const Mac right = sign(purpose, bytes);
  return CRYPTO_memcmp(right.data(), mac.data(), right.size()) == 0;
}

}  // namespace cohort::net
