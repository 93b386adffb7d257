#include "golden_files.h"
#include "interchange/dcp.h"
#include "interchange/model_tensors.h"
#include "interchange/torch_pieces.h"
#include "soak.h"

#include <cohort/random.h>

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace interchange;  // NOLINT: the subject of all tests here

/// Random changes to files, each a function of its number.
class Mutations {
 public:
  explicit Mutations(std::uint64_t stream) : random_(17, stream) {}

  std::string mutated(std::string bytes) {
    const std::uint64_t num_changes = 1 + below(3);
    for (std::uint64_t i = 0; i < num_changes && !bytes.empty(); ++i) change(bytes);
    return bytes;
  }
  std::uint64_t below(std::uint64_t limit) { return random_.below(limit, next_++); }

 private:
  void change(std::string& bytes) {
    const std::size_t at = below(bytes.size());
    const std::size_t length = std::min<std::size_t>(1 + below(16), bytes.size() - at);
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:  // great and small numbers, where lengths are
        for (std::size_t i = at; i < at + std::min<std::size_t>(length, 8); ++i) {
          bytes[i] = below(2) == 0 ? '\xff' : '\0';
        }
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(below(bytes.size()), bytes.substr(at, length));
        break;
      default:
        bytes.resize(at);
    }
  }

  const RandomStream random_;
  std::uint64_t next_ = 0;
};

void expect_clean(const Error& error, std::uint64_t round) {
  const bool is_expected = error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported ||
                           error.code() == ErrorCode::kUsage || error.code() == ErrorCode::kNotFound;
  EXPECT_TRUE(is_expected) << "round " << round << ": " << error.what();
  EXPECT_LT(error.text().size(), 2000u) << "round " << round;
}

void read_all(state::PieceSource& source, std::uint64_t round) {
  for (std::size_t i = 0; i < source.held().size(); ++i) {
    const Piece& piece = source.held()[i].piece;
    if (piece.mine.count > 100'000) continue;  // expanded: the time is spent better elsewhere
    const state::Read whole{.held = i, .from = 0, .count = piece.mine.count};
    const Status status =
        source.read(std::span(&whole, 1), [](std::size_t, std::size_t, std::span<const std::byte>) {});
    if (!status) expect_clean(status.error(), round);
  }
}

// Everything that a conversion does with a file.
bool use(const std::string& content, std::uint64_t round) {
  MemoryFileSystem fs;
  put_file(fs, "x.pt", content);
  const auto file = open_torch_file(fs, "x.pt");
  if (!file) {
    expect_clean(file.error(), round);
    return false;
  }
  const auto model = find_model(file->root());
  TorchPieces pieces(*file, model ? model->tensors : std::vector<NamedTensor>());
  const std::vector<std::string> names = {"weight", "bias"};
  if (const auto optimizer = find_optimizer(file->root(), names)) pieces.add(*optimizer);
  read_all(pieces, round);
  (void)file->check();
  return true;
}

TEST(MutatedFiles, AreReadOrRefused) {
  const std::string kGood[] = {golden_file("zip.pt"), golden_file("legacy.pt"), golden_file("training.pt")};
  for (const std::string& good : kGood) ASSERT_TRUE(use(good, 0));
  Mutations mutations(1);
  int num_read = 0;
  const auto num_rounds = rounds<std::uint64_t>(6'000, 1'000'000);
  for (std::uint64_t round = 0; round < num_rounds && !testing::Test::HasFailure(); ++round) {
    num_read += use(mutations.mutated(kGood[round % 3]), round) ? 1 : 0;
  }
  EXPECT_GT(num_read, 0) << "a change of an element is no mistake of the format";
}

// The checksum of the zip form refuses most changes of a pickle before it is read.
TEST(MutatedPickles, AreReadOrRefused) {
  std::string good = golden_file("zip.pt");
  const std::size_t begin = good.find("\x80\x02"), end = good.find("PK\x07\x08");
  const std::string pickle = good.substr(begin, end - begin);
  Mutations mutations(2);
  int num_read = 0;
  const auto num_rounds = rounds<std::uint64_t>(6'000, 1'000'000);
  for (std::uint64_t round = 0; round < num_rounds && !testing::Test::HasFailure(); ++round) {
    const std::string changed = mutations.mutated(pickle);
    MemoryFileSystem fs;
    put_file(fs, "x", changed);
    const auto file = value_or_throw(fs.open_read("x"));
    ByteFeed feed(value_or_throw(FileWindow::whole(*file)));
    const auto unpickled = unpickle(feed, torch_globals());
    num_read += unpickled ? 1 : 0;
    if (!unpickled) expect_clean(unpickled.error(), round);
  }
  EXPECT_GT(num_read, 0);
}

TEST(MutatedDirectories, AreReadOrRefused) {
  const std::string metadata = golden_file("dcp/.metadata"), items = golden_file("dcp/__0_0.distcp");
  Mutations mutations(3);
  int num_read = 0;
  const auto num_rounds = rounds<std::uint64_t>(6'000, 1'000'000);
  for (std::uint64_t round = 0; round < num_rounds && !testing::Test::HasFailure(); ++round) {
    MemoryFileSystem fs;
    value_or_throw(fs.make_directories("dcp"));
    put_file(fs, "dcp/.metadata", round % 2 == 0 ? mutations.mutated(metadata) : metadata);
    put_file(fs, "dcp/__0_0.distcp", round % 2 == 0 ? items : mutations.mutated(items));
    const auto dcp = open_dcp(fs, "dcp");
    num_read += dcp ? 1 : 0;
    if (!dcp) {
      expect_clean(dcp.error(), round);
      continue;
    }
    DcpPieces pieces(*dcp);
    read_all(pieces, round);
    for (const std::string& name : dcp->value_names()) (void)dcp->value(name);
  }
  EXPECT_GT(num_read, 0);
}

}  // namespace
}  // namespace cohort::test
