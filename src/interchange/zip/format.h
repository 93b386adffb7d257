#pragma once

#include <cstddef>
#include <cstdint>

// The parts of a zip file that are read and written here: entries that are stored, not compressed.
//
//   for each entry: local header, name, extra fields, data, descriptor (checksum and sizes, where flag 3 is
//   set) for each entry: record of the directory, name, extra fields, comment zip64 end record and its
//   locator, where a number does not fit into 32 bits; end record, comment
//
// Numbers are little endian. A size or an offset of 0xffffffff stands in a zip64 extra field.

namespace cohort::interchange {

inline constexpr std::uint32_t kLocalHeaderMark = 0x04034b50;
inline constexpr std::uint32_t kDescriptorMark = 0x08074b50;
inline constexpr std::uint32_t kRecordMark = 0x02014b50;
inline constexpr std::uint32_t kEndMark = 0x06054b50;
inline constexpr std::uint32_t kZip64EndMark = 0x06064b50;
inline constexpr std::uint32_t kZip64LocatorMark = 0x07064b50;

inline constexpr std::size_t kLocalHeaderBytes = 30;
inline constexpr std::size_t kRecordBytes = 46;
inline constexpr std::size_t kEndBytes = 22;
inline constexpr std::size_t kZip64EndBytes = 56;
inline constexpr std::size_t kZip64LocatorBytes = 20;

inline constexpr std::uint16_t kZip64Extra = 1;
/// A number that stands in a zip64 field instead.
inline constexpr std::uint32_t kIn64 = 0xffffffff;
inline constexpr std::uint16_t kCountIn64 = 0xffff;

}  // namespace cohort::interchange
