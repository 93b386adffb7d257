#include "records/record_file.h"

#include "base/check.h"
#include "base/units.h"
#include "storage/whole_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <zlib.h>

namespace cohort::records {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
constexpr int kGzipOnly = 15 + 16;  // the largest window; a gzip header is wanted

/// zlib's state, ended with its owner.
class Inflater {
 public:
  Inflater() { COHORT_CHECK_EQ(inflateInit2(&stream_, kGzipOnly), Z_OK); }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream* operator->() { return &stream_; }
  z_stream* get() { return &stream_; }

 private:
  z_stream stream_{};
};

Error damaged(const std::string& path, std::size_t offset, std::string_view what) {
  return Error(ErrorCode::kCorrupt, fmt::format("'{}' is damaged at byte {}: {}", path, offset, what))
      .with_remedy("Get the file again.");
}

Error too_much(const std::string& path, std::uint64_t max_bytes) {
  return Error(ErrorCode::kUsage, fmt::format("'{}' unpacks to more than the {} that are allowed here", path,
                                              format_bytes(max_bytes)))
      .with_remedy("Check that this is the file you meant.");
}

// Unpacks one member to the end of `content` and returns how many bytes of the file it took.
Result<std::size_t> unpack_member(std::string_view rest, std::string& content, const std::string& path,
                                  std::uint64_t max_bytes, std::size_t offset) {
  Inflater inflater;
  std::string piece(kPieceBytes, '\0');
  std::size_t used = 0;
  while (true) {
    const std::size_t given = std::min<std::size_t>(rest.size() - used, std::numeric_limits<uInt>::max());
    inflater->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data() + used));
    inflater->avail_in = static_cast<uInt>(given);
    inflater->next_out = reinterpret_cast<Bytef*>(piece.data());
    inflater->avail_out = static_cast<uInt>(piece.size());
    const int outcome = inflate(inflater.get(), Z_NO_FLUSH);
    const std::size_t got = piece.size() - inflater->avail_out;
    used += given - inflater->avail_in;
    if (content.size() + got > max_bytes) return too_much(path, max_bytes);
    content.append(piece, 0, got);
    if (outcome == Z_STREAM_END) return used;
    if (outcome == Z_BUF_ERROR) return damaged(path, offset + used, "the gzip data ends too early");
    if (outcome != Z_OK) {
      return damaged(path, offset + used, inflater->msg != nullptr ? inflater->msg : "not gzip data");
    }
  }
}

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

Result<std::string> gunzip(std::string_view bytes, const std::string& path, std::uint64_t max_bytes) {
  std::string content;
  std::size_t done = 0;
  do {
    if (done > 0 && !is_gzip(bytes.substr(done))) {
      return damaged(path, done, "something follows the end of the gzip data");
    }
    COHORT_ASSIGN_OR_RETURN(const std::size_t used,
                            unpack_member(bytes.substr(done), content, path, max_bytes, done));
    done += used;
  } while (done < bytes.size());
  return content;
}

Result<std::string> read_record_file(FileSystem& fs, const std::string& path, std::uint64_t max_bytes) {
  COHORT_ASSIGN_OR_RETURN(std::string content, read_file(fs, path, max_bytes));
  if (is_gzip(content)) return gunzip(content, path, max_bytes);
  if (path.ends_with(".gz")) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' is not a gzip file, whatever its name says", path))
        .with_remedy("Get the file again, or give it a name without .gz if it was unpacked.");
  }
  return content;
}

}  // namespace cohort::records
