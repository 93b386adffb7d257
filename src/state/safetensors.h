#pragma once

#include "state/tensor_view.h"
#include "storage/file_system.h"

#include <map>
#include <memory>
#include <string_view>

// A safetensors file:
//
//   offset   bytes
//   0        8     n, the length of the header, little endian
//   8        n     a JSON object, filled up with spaces:
//                    {"__metadata__": {"key": "text", …},
//                     "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
//   8 + n          the bytes of the tensors, without gaps; offsets count from here
//
// dtype: F32 F64 BF16 F16 I8 I16 I32 I64 U8 BOOL.

namespace cohort {

/// Writes a file with these tensors, in this order, by write_file_atomically(). The data of the tensors begin
/// at a multiple of 64 bytes.
///
/// Failure: kUsage for a name that occurs twice or is not UTF-8; a view whose bytes do not fit its shape is a
/// bug; else as write_file_atomically().
/// Cost: the bytes of tensors are not copied.
Status write_safetensors(FileSystem& fs, const std::string& path, std::span<const TensorView> tensors,
                         const std::map<std::string, std::string>& metadata);

/// A safetensors file that was read and checked.
///
/// Threads: immutable.
/// Lifetime: owns the bytes of its views; a move does not invalidate the views.
class SafetensorsFile {
 public:
  /// Failure: kCorrupt, naming file and reason, for everything that breaks the format: lengths, JSON,
  /// duplicate names, shapes that do not fit, gaps and overlaps; kUnsupported for an element type without a
  /// DType; else as FileSystem.
  /// Cost: one allocation of the size of the file, read once.
  static Result<SafetensorsFile> open(FileSystem& fs, const std::string& path);

  /// The tensors, in the order of their bytes.
  std::span<const TensorView> tensors() const { return tensors_; }
  /// The tensor with this name, or null.
  const TensorView* find(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  struct Release {
    void operator()(std::byte* data) const;
  };
  using Data = std::unique_ptr<std::byte, Release>;

  SafetensorsFile() = default;
  static Data allocate(std::uint64_t size_bytes);

  Data data_;  ///< aligned to 64 bytes
  std::vector<TensorView> tensors_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace cohort
