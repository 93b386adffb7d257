#pragma once

#include "base/result.h"
#include "interchange/pickle/value.h"

#include <map>
#include <span>

// A directory that torch.distributed.checkpoint wrote:
//
//   .metadata       a pickle of the class Metadata: the type, shape and chunks of each tensor, and the place
//                   of each chunk and each other value
//   __R_N.distcp    chunks and values of rank R, each as torch.save() writes it

namespace cohort::interchange {

/// A part of a file of the directory, which torch.save() wrote.
struct DcpPlace {
  std::string file{};
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

struct DcpChunk {
  Box box{};
  DcpPlace place{};
};

struct DcpTensor {
  std::string name{};
  DType dtype = DType::kF32;
  Shape shape{};
  std::vector<DcpChunk> chunks{};
};

struct DcpMetadata {
  std::vector<DcpTensor> tensors{};          ///< in the order of the file
  std::map<std::string, DcpPlace> values{};  ///< everything else
};

/// The metadata in the tree of the pickle.
///
/// Failure: kCorrupt, naming the field, for another structure, a chunk outside its tensor, a chunk or a value
/// without place, and a file name that leads out of the directory; kUnsupported for compressed chunks.
Result<DcpMetadata> dcp_metadata_in(const Value& root);

}  // namespace cohort::interchange
