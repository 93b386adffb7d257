#include "net/tls_stream.h"

#include "base/system_error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <span>
#include <sys/socket.h>
#include <vector>

namespace cohort::net {
namespace {

constexpr std::size_t kRecord = std::size_t{16} << 10;
constexpr std::size_t kReadAhead = std::size_t{256} << 10;
constexpr std::string_view kIdentity = "cohort job";
constexpr std::array<unsigned char, 2> kCipher = {0x13, 0x01};  // TLS_AES_128_GCM_SHA256

template <auto kFree>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using ContextPointer = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, Freer<SSL_free>>;
using MethodPointer = std::unique_ptr<BIO_METHOD, Freer<BIO_meth_free>>;

// ----- a BIO over a socket that raises no SIGPIPE -----

// Reads ahead: one system call fetches many records. OpenSSL's own read-ahead moves the whole rest of its
// buffer for every record that it takes out.
struct SocketEnd {
  int socket = -1;
  bool has_more = false;  // another record is written right after this one
  std::uint64_t num_come = 0;
  std::vector<char> ahead{};
  std::span<const char> left{};  // unread part of `ahead`
};

SocketEnd& end_of(BIO* bio) {
  return *static_cast<SocketEnd*>(BIO_get_data(bio));
}

bool comes_later() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

int write_socket(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const SocketEnd& end = end_of(bio);
  // With MSG_MORE the kernel packs the records of one write() into full packets.
  const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (end.has_more ? MSG_MORE : 0);
  const ssize_t put = ::send(end.socket, bytes, static_cast<std::size_t>(size), flags);
  if (put >= 0) return static_cast<int>(put);
  if (!comes_later()) {
    ::shutdown(end.socket, SHUT_WR);
    return size;  // dropped, see Stream: there may still be bytes to read
  }
  BIO_set_retry_write(bio);
  return -1;
}

int take_from_ahead(SocketEnd& end, char* bytes, int size) {
  const std::size_t count = std::min(end.left.size(), static_cast<std::size_t>(size));
  std::copy_n(end.left.begin(), count, bytes);
  end.left = end.left.subspan(count);
  return static_cast<int>(count);
}

int read_socket(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  SocketEnd& end = end_of(bio);
  if (!end.left.empty()) return take_from_ahead(end, bytes, size);
  end.ahead.resize(kReadAhead);
  const ssize_t got = ::recv(end.socket, end.ahead.data(), end.ahead.size(), MSG_DONTWAIT);
  if (got <= 0) {
    if (got < 0 && comes_later()) BIO_set_retry_read(bio);
    return static_cast<int>(got);
  }
  end.num_come += static_cast<std::uint64_t>(got);
  end.left = std::span(end.ahead).first(static_cast<std::size_t>(got));
  return take_from_ahead(end, bytes, size);
}

long control_socket(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* socket_method() {
  static const MethodPointer method = [] {
    MethodPointer made(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals"));
    BIO_meth_set_write(made.get(), write_socket);
    BIO_meth_set_read(made.get(), read_socket);
    BIO_meth_set_ctrl(made.get(), control_socket);
    return made;
  }();
  return method.get();
}

// ----- the pre-shared key, which OpenSSL wants as a session to resume -----

int secret_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

SSL_SESSION* session_of(SSL* ssl) {
  const auto* secret = static_cast<const Secret*>(SSL_get_ex_data(ssl, secret_index()));
  SSL_SESSION* session = SSL_SESSION_new();
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kCipher.data());
  if (session != nullptr && cipher != nullptr &&
      SSL_SESSION_set1_master_key(session, reinterpret_cast<const unsigned char*>(secret->data()),
                                  secret->size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1) {
    return session;
  }
  SSL_SESSION_free(session);
  return nullptr;
}

int use_session(SSL* ssl, const EVP_MD*, const unsigned char** identity, std::size_t* length,
                SSL_SESSION** session) {
  *session = session_of(ssl);
  *identity = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *length = kIdentity.size();
  return *session != nullptr ? 1 : 0;
}

int find_session(SSL* ssl, const unsigned char* identity, std::size_t length, SSL_SESSION** session) {
  const bool is_ours = length == kIdentity.size() && std::memcmp(identity, kIdentity.data(), length) == 0;
  *session = is_ours ? session_of(ssl) : nullptr;
  return 1;
}

Error openssl_error(const std::string& what) {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return Error(ErrorCode::kIo, code == 0 ? what : fmt::format("{}: {}", what, text.data()));
}

using Stage = std::array<std::byte, kRecord>;

/// The rest of a list of parts to be written.
class PartsCursor {
 public:
  explicit PartsCursor(std::span<const iovec> parts) : parts_(parts) {
    for (const iovec& part : parts) num_left_ += part.iov_len;
  }

  std::size_t num_left() const { return num_left_; }

  /// The next bytes, at most `cap`: in place if they are contiguous, else copied to `stage`.
  std::span<const std::byte> peek(Stage& stage, std::size_t cap) const {
    std::span<const std::byte> next = rest_of(parts_.front(), offset_);
    if (next.size() >= cap || next.size() == num_left_) return next.first(std::min(next.size(), cap));
    std::size_t filled = 0;
    for (std::size_t part = 0; part < parts_.size() && filled < cap; ++part) {
      next = rest_of(parts_[part], part == 0 ? offset_ : 0);
      const std::size_t count = std::min(next.size(), cap - filled);
      std::copy_n(next.begin(), count, stage.begin() + static_cast<std::ptrdiff_t>(filled));
      filled += count;
    }
    return std::span(stage).first(filled);
  }

  void advance(std::size_t count) {
    num_left_ -= count;
    offset_ += count;
    while (!parts_.empty() && offset_ >= parts_.front().iov_len) {
      offset_ -= parts_.front().iov_len;
      parts_ = parts_.subspan(1);
    }
  }

 private:
  static std::span<const std::byte> rest_of(const iovec& part, std::size_t offset) {
    return std::span(static_cast<const std::byte*>(part.iov_base), part.iov_len).subspan(offset);
  }

  std::span<const iovec> parts_;
  std::size_t offset_ = 0;  // in the first part
  std::size_t num_left_ = 0;
};

ContextPointer make_context(End end) {
  ContextPointer context(SSL_CTX_new(end == End::kListener ? TLS_server_method() : TLS_client_method()));
  if (!context) return nullptr;
  SSL_CTX* raw = context.get();
  SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(raw, "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set_num_tickets(raw, 0);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_psk_use_session_callback(raw, use_session);
  SSL_CTX_set_psk_find_session_callback(raw, find_session);
  return context;
}

}  // namespace

struct TlsStream::Session {
  Secret secret{};
  SocketEnd end;
  Stage stage{};
  ContextPointer context;
  SslPointer ssl;
};

TlsStream::TlsStream(std::unique_ptr<Session> session) : session_(std::move(session)) {}

TlsStream::~TlsStream() {
  OPENSSL_cleanse(session_->secret.data(), session_->secret.size());
}

Result<std::unique_ptr<TlsStream>> TlsStream::make(int socket, End end, const Secret& secret) {
  auto session = std::make_unique<Session>();
  session->secret = secret;
  session->context = make_context(end);
  if (session->context) session->ssl.reset(SSL_new(session->context.get()));
  BIO* bio = session->ssl ? BIO_new(socket_method()) : nullptr;
  if (bio == nullptr) return openssl_error("cannot set up TLS for a connection");
  session->end.socket = socket;
  BIO_set_data(bio, &session->end);
  BIO_set_init(bio, 1);
  SSL* ssl = session->ssl.get();
  SSL_set_bio(ssl, bio, bio);
  SSL_set_ex_data(ssl, secret_index(), &session->secret);
  end == End::kListener ? SSL_set_accept_state(ssl) : SSL_set_connect_state(ssl);
  return std::unique_ptr<TlsStream>(new TlsStream(std::move(session)));
}

Result<bool> TlsStream::prepare() {
  if (is_prepared_) return true;
  SSL* ssl = session_->ssl.get();
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl);
  if (result == 1) {
    // A handshake that did not resume the session did not use the pre-shared key.
    if (SSL_session_reused(ssl) != 1) {
      return Error(ErrorCode::kPermission, "the peer does not have the key of this job");
    }
    is_prepared_ = true;
    return true;
  }
  const int error = SSL_get_error(ssl, result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return false;
  if (error == SSL_ERROR_SSL) {
    const Error why = openssl_error("the TLS handshake failed");
    return Error(ErrorCode::kPermission, why.message());
  }
  return Error(ErrorCode::kPeerLost, "the connection broke during the TLS handshake");
}

// The outcome of a failed SSL_read() or SSL_write(), after earlier calls moved `done` bytes.
Result<std::size_t> TlsStream::outcome(int result, std::size_t done, const char* what) {
  const int error = SSL_get_error(session_->ssl.get(), result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return done;
  if (done > 0) return done;  // the next call reports the error
  if (error == SSL_ERROR_ZERO_RETURN || (error == SSL_ERROR_SYSCALL && ERR_peek_error() == 0)) {
    return Error(ErrorCode::kPeerLost, "the peer has closed the connection");
  }
  const Error why = openssl_error(what);
  return Error(ErrorCode::kPeerLost, why.message());
}

Result<std::size_t> TlsStream::read(std::span<const iovec> parts) {
  std::size_t all = 0;
  for (const iovec& part : parts) {
    auto* to = static_cast<std::byte*>(part.iov_base);
    for (std::size_t filled = 0; filled < part.iov_len;) {
      ERR_clear_error();
      const int cap = static_cast<int>(std::min(part.iov_len - filled, std::size_t{1} << 30));
      const int got = SSL_read(session_->ssl.get(), to + filled, cap);
      num_come_ = session_->end.num_come;
      if (got <= 0) return outcome(got, all, "reading from the connection failed");
      filled += static_cast<std::size_t>(got);
      all += static_cast<std::size_t>(got);
    }
  }
  return all;
}

// Writes one record at a time, each as full as possible. A record that OpenSSL has written half-way is
// offered again with the same size, as OpenSSL requires: with a longer one it would not report the first as
// written when the second does not fit.
Result<std::size_t> TlsStream::write(std::span<const iovec> parts) {
  PartsCursor rest(parts);
  std::size_t all = 0;
  while (rest.num_left() > 0) {
    ERR_clear_error();
    const std::size_t cap = num_pending_ > 0 ? num_pending_ : kRecord;
    const std::span<const std::byte> record = rest.peek(session_->stage, cap);
    session_->end.has_more = rest.num_left() > record.size();
    const int put = SSL_write(session_->ssl.get(), record.data(), static_cast<int>(record.size()));
    num_pending_ = put > 0 ? 0 : record.size();
    if (put <= 0) return outcome(put, all, "writing to the connection failed");
    rest.advance(static_cast<std::size_t>(put));
    all += static_cast<std::size_t>(put);
    count_record();
  }
  return all;
}

// RFC 8446, section 5.5: a key must be updated before 2^24.5 records.
void TlsStream::count_record() {
  constexpr std::uint64_t kKeyRecordsCap = std::uint64_t{1} << 22;
  if (++num_records_ < kKeyRecordsCap) return;
  num_records_ = 0;
  SSL_key_update(session_->ssl.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
}

}  // namespace cohort::net
