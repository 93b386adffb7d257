#include "golden_files.h"
#include "interchange/zip/crc.h"
#include "opcodes.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using interchange::zip_crc;

/// An entry of a zip file, with whatever mistakes.
struct Entry {
  std::string name{};
  std::string data{};
  std::string local_name = name;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::optional<std::uint32_t> offset{};  ///< of another local header
  int missing_bytes = 0;                  ///< by which the data are shorter than they say
  bool is_long = false;                   ///< its numbers stand in a zip64 field
};

std::string u16(std::size_t number) {
  return raw(static_cast<std::uint16_t>(number));
}
std::string u32(std::size_t number) {
  return raw(static_cast<std::uint32_t>(number));
}

std::uint32_t crc_of(const Entry& entry) {
  return zip_crc(std::as_bytes(std::span(entry.data)));
}

std::string local_part(const Entry& entry) {
  const std::size_t size = entry.data.size();
  return "PK\3\4" + u16(20) + u16(entry.flags) + u16(0) + u32(0) + u32(crc_of(entry)) + u32(size) +
         u32(size) + u16(entry.local_name.size()) + u16(0) + entry.local_name +
         entry.data.substr(0, size - static_cast<std::size_t>(entry.missing_bytes));
}

std::string record(const Entry& entry, std::size_t offset) {
  const std::size_t size = entry.data.size();
  const std::string sizes = entry.is_long ? u32(0xffffffff) + u32(0xffffffff) : u32(size) + u32(size);
  const std::string extra = entry.is_long ? u16(1) + u16(24) + raw(std::uint64_t{size}) +
                                                raw(std::uint64_t{size}) + raw(std::uint64_t{offset})
                                          : "";
  return "PK\1\2" + u16(20) + u16(20) + u16(entry.flags) + u16(entry.method) + u32(0) + u32(crc_of(entry)) +
         sizes + u16(entry.name.size()) + u16(extra.size()) + u16(0) + u16(0) + u16(0) + u32(0) +
         u32(entry.is_long ? 0xffffffff : entry.offset.value_or(static_cast<std::uint32_t>(offset))) +
         entry.name + extra;
}

std::string zipped(const std::vector<Entry>& entries, const std::string& comment = "") {
  std::string file, directory;
  for (const Entry& entry : entries) {
    directory += record(entry, file.size());
    file += local_part(entry);
  }
  return file + directory + "PK\5\6" + u32(0) + u16(entries.size()) + u16(entries.size()) +
         u32(directory.size()) + u32(file.size()) + u16(comment.size()) + comment;
}

const Entry kPickle{.name = "a/data.pkl",
                    .data = "\x80\x02" + tensor(number(2) + number(3), number(3) + number(1)) + "."};
const Entry kStorage{.name = "a/data/0", .data = std::string(24, 'x')};

std::string refusal_of(const std::vector<Entry>& entries) {
  const std::string text = OpenedFile(zipped(entries)).failure();
  const std::string context = "cannot read torch file 'x.pt': ";
  const std::size_t begin = text.find(context);
  return begin == std::string::npos ? text : text.substr(0, begin) + text.substr(begin + context.size());
}

std::string refusal_with(const Entry& more) {
  return refusal_of(std::vector<Entry>{kPickle, kStorage, more});
}

TEST(RefusedZips, AreNotThoseInOrder) {
  EXPECT_EQ(refusal_of({kPickle, kStorage}), "");
  EXPECT_EQ(OpenedFile(zipped({kPickle, kStorage}, "a comment")).failure(), "");
  EXPECT_EQ(refusal_of({{.name = "a/byteorder", .data = "little"}, kPickle, kStorage}), "");
  Entry longer = kStorage;
  longer.is_long = true;
  EXPECT_EQ(refusal_of({kPickle, longer}), "") << "zip64";
}

TEST(RefusedZips, HaveEntriesThatAreNotStored) {
  EXPECT_EQ(refusal_with({.name = "a/x", .data = "x", .method = 8}),
            "unsupported: zip entry 'a/x' is compressed by method 8, expected 0 (stored). Save tensors in "
            "Python with "
            "torch.save(), which does not compress. Archives of TorchScript are not read.");
  EXPECT_EQ(refusal_with({.name = "a/x", .data = "x", .flags = 1}),
            "unsupported: zip entry 'a/x' is encrypted");
}

TEST(RefusedZips, HaveNamesThatLeadOut) {
  for (const char* const name : {"../x", "a/../x", "/x", "a//x", "a/", "./x", "a\\x", ".."}) {
    EXPECT_EQ(refusal_with({.name = name}),
              fmt::format("corrupt: zip entry '{}' has a name that leads out of its folder", name));
  }
  EXPECT_EQ(refusal_with({.name = std::string("a\0b", 3)}),
            "corrupt: zip entry 'a\\x00b' has a name that leads out of its folder");
}

TEST(RefusedZips, HaveEntriesThatShareBytes) {
  EXPECT_EQ(refusal_with(kStorage), "corrupt: zip entry 'a/data/0' occurs twice");
  EXPECT_EQ(
      refusal_with({.name = "b/data.pkl", .offset = 0}),
      "corrupt: zip entry 'a/data.pkl' cannot be read: its 124 bytes from byte 40 on overlap what begins at "
      "byte 0");
  EXPECT_EQ(refusal_with({.name = "a/x", .data = "12345", .missing_bytes = 1}),
            "corrupt: zip entry 'a/x' cannot be read: its 5 bytes from byte 259 on overlap what begins at "
            "byte 263");
  EXPECT_EQ(refusal_with({.name = "a/x", .data = "x", .local_name = "a/y"}),
            "corrupt: zip entry 'a/x' cannot be read: its local header at byte 226 has the name 'a/y'");
  EXPECT_EQ(refusal_with({.name = "a/x", .data = "x", .offset = 3}),
            "corrupt: zip entry 'a/data.pkl' cannot be read: its 124 bytes from byte 40 on overlap what "
            "begins at byte 3");
  EXPECT_EQ(
      refusal_with({.name = "a/x", .data = "x", .offset = 229}),
      "corrupt: zip entry 'a/x' cannot be read: expected its local header at byte 229, found other bytes");
}

TEST(RefusedZips, LackEntries) {
  EXPECT_EQ(refusal_of(std::vector<Entry>{kPickle}), "corrupt: storage '0' has no entry 'a/data/0'");
  EXPECT_EQ(refusal_of({kPickle, {.name = "b/data/0", .data = kStorage.data}}),
            "corrupt: storage '0' has no entry 'a/data/0'");
  EXPECT_EQ(refusal_of({kPickle, {.name = "a/data/0", .data = "short"}}),
            "corrupt: zip entry 'a/data/0' has 5 bytes, expected 24");
  EXPECT_EQ(refusal_of(std::vector<Entry>{kStorage}),
            "unsupported: it is a zip file without an entry 'data.pkl', expected one of torch.save()");
  EXPECT_EQ(refusal_with({.name = "b/data.pkl"}), "corrupt: expected one entry 'data.pkl', found several");
}

TEST(RefusedZips, AreOfAnotherKind) {
  EXPECT_EQ(refusal_with({.name = "a/constants.pkl"}),
            "unsupported: it is a TorchScript archive, expected a file of Python's torch.save(). Save its "
            "tensors in "
            "Python: torch.save(torch.jit.load(path).state_dict(), other_path).");
  EXPECT_EQ(refusal_with({.name = "a/byteorder", .data = "big"}),
            "unsupported: its byte order is 'big', expected 'little'. Load and save it in Python on a "
            "little-endian "
            "machine.");
}

TEST(RefusedZips, HaveAnotherEnd) {
  const std::string good = zipped({kPickle, kStorage});
  const auto with = [&](std::size_t from_end, const std::string& bytes) {
    std::string file = good;
    file.replace(file.size() - from_end, bytes.size(), bytes);
    return OpenedFile(file).failure();
  };
  EXPECT_NE(OpenedFile(good + "x").failure().find("expected an end record, found none"), std::string::npos);
  EXPECT_NE(with(6, u32(0x10000)).find("expected an end before byte"), std::string::npos);
  EXPECT_NE(with(12, u16(0xffff)).find("claims 65535 entries"), std::string::npos) << with(12, u16(0xffff));
  EXPECT_NE(with(12, u16(1)).find("bytes follow the last field"), std::string::npos);
  EXPECT_NE(with(18, u16(1)).find("field disk is 1, expected 0 … 0"), std::string::npos);
}

}  // namespace
}  // namespace cohort::test
