#pragma once

#include "interchange/pickle/unpickle.h"
#include "interchange/zip/archive.h"

#include <optional>

namespace cohort::interchange {

/// The bytes of a storage in a file.
struct StorageBytes {
  FileWindow data;
  std::optional<ZipEntry> entry{};  ///< if they have a checksum
};

/// The content of a file that torch.save() wrote.
struct TorchContent {
  Value root{};
  std::vector<StorageBytes> storages{};
};

// The zip form, the default since PyTorch 1.6, has these entries, where `archive` is any name:
//
//   archive/data.pkl   a pickle of protocol 2, in which a storage is a persistent id
//                      ('storage', type, key, device, number of elements)
//   archive/byteorder  'little' or 'big'
//   archive/data/KEY   the bytes of a storage, from a multiple of 64 bytes on
//
// and others that are not needed to read it: version, .format_version, .storage_alignment,
// .data/serialization_id.

/// Failure: kUnsupported for big-endian files, TorchScript, and whatever unpickle() refuses; kCorrupt.
Result<TorchContent> read_torch_zip(const FileWindow& file);

// The legacy form:
//
//   five pickles   0x1950a86a20f9469cfc6c; 1001; {'little_endian': …, …}; the object; the list of keys
//   for each key   u64 number of elements, little endian; the bytes of the storage
//
// A persistent id has a sixth item: None, or (key of the view, first element, number of elements).

/// Failure: as read_torch_zip().
Result<TorchContent> read_torch_legacy(const FileWindow& file);

}  // namespace cohort::interchange
