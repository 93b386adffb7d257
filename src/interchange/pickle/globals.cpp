#include "interchange/pickle/globals.h"

#include "base/check.h"
#include "interchange/pickle/calls.h"

#include <algorithm>
#include <array>

namespace cohort::interchange {
namespace {

using enum GlobalUse;

constexpr Global kContainers[] = {
    {"collections", "OrderedDict", kCall, make_ordered_dict},
    {"collections", "Counter", kCall, make_counter},
    {"builtins", "set", kCall, make_set},
    {"builtins", "frozenset", kCall, make_set},
    {"builtins", "bytes", kCall, make_bytes},
    {"builtins", "bytearray", kCall, make_bytes},
    {"_codecs", "encode", kCall, encode_latin1},
    {"builtins", "complex", kObject},
};

constexpr Global kTensors[] = {
    {"torch._utils", "_rebuild_tensor", kCall, rebuild_tensor},
    {"torch._utils", "_rebuild_tensor_v2", kCall, rebuild_tensor_v2},
    {"torch._utils", "_rebuild_tensor_v3", kCall, rebuild_tensor_v3},
    {"torch._utils", "_rebuild_parameter", kCall, rebuild_parameter},
    {"torch._utils", "_rebuild_parameter_with_state", kCall, rebuild_parameter},
    {"torch", "FloatStorage", kStorage, nullptr, DType::kF32},
    {"torch", "DoubleStorage", kStorage, nullptr, DType::kF64},
    {"torch", "BFloat16Storage", kStorage, nullptr, DType::kBF16},
    {"torch", "HalfStorage", kStorage, nullptr, DType::kF16},
    {"torch", "CharStorage", kStorage, nullptr, DType::kI8},
    {"torch", "ShortStorage", kStorage, nullptr, DType::kI16},
    {"torch", "IntStorage", kStorage, nullptr, DType::kI32},
    {"torch", "LongStorage", kStorage, nullptr, DType::kI64},
    {"torch", "ByteStorage", kStorage, nullptr, DType::kU8},
    {"torch", "BoolStorage", kStorage, nullptr, DType::kBool},
    {"torch.storage", "UntypedStorage", kBytes},
    {"torch", "UntypedStorage", kBytes},
    {"torch", "ComplexFloatStorage", kUnsupported},
    {"torch", "ComplexDoubleStorage", kUnsupported},
    {"torch", "QInt8Storage", kUnsupported},
    {"torch", "QInt32Storage", kUnsupported},
    {"torch", "QUInt8Storage", kUnsupported},
    {"torch", "QUInt4x2Storage", kUnsupported},
    {"torch", "QUInt2x4Storage", kUnsupported},
};

constexpr Global kFacts[] = {
    {"torch", "Size", kCall, make_size},
    {"torch", "device", kObject},
    {"torch.serialization", "_get_layout", kObject},
    {"torch", "float32", kDType, nullptr, DType::kF32},
    {"torch", "float64", kDType, nullptr, DType::kF64},
    {"torch", "bfloat16", kDType, nullptr, DType::kBF16},
    {"torch", "float16", kDType, nullptr, DType::kF16},
    {"torch", "int8", kDType, nullptr, DType::kI8},
    {"torch", "int16", kDType, nullptr, DType::kI16},
    {"torch", "int32", kDType, nullptr, DType::kI32},
    {"torch", "int64", kDType, nullptr, DType::kI64},
    {"torch", "uint8", kDType, nullptr, DType::kU8},
    {"torch", "bool", kDType, nullptr, DType::kBool},
    {"torch", "uint16", kUnsupported},
    {"torch", "uint32", kUnsupported},
    {"torch", "uint64", kUnsupported},
    {"torch", "complex32", kUnsupported},
    {"torch", "complex64", kUnsupported},
    {"torch", "complex128", kUnsupported},
    {"torch", "float8_e4m3fn", kUnsupported},
    {"torch", "float8_e4m3fnuz", kUnsupported},
    {"torch", "float8_e5m2", kUnsupported},
    {"torch", "float8_e5m2fnuz", kUnsupported},
    {"torch", "float8_e8m0fnu", kUnsupported},
    {"torch", "float4_e2m1fn_x2", kUnsupported},
};

#define COHORT_DCP_METADATA "torch.distributed.checkpoint.metadata"
#define COHORT_SHARD_METADATA "torch.distributed._shard.sharded_tensor.metadata"  // until PyTorch 2.2
constexpr Global kDcp[] = {
    {COHORT_DCP_METADATA, "Metadata", kClass},
    {COHORT_DCP_METADATA, "TensorStorageMetadata", kClass},
    {COHORT_DCP_METADATA, "BytesStorageMetadata", kClass},
    {COHORT_DCP_METADATA, "ChunkStorageMetadata", kClass},
    {COHORT_DCP_METADATA, "MetadataIndex", kClass},
    {COHORT_DCP_METADATA, "StorageMeta", kClass},
    {COHORT_DCP_METADATA, "TensorProperties", kClass},
    {COHORT_DCP_METADATA, "_MEM_FORMAT_ENCODING", kObject},
    {COHORT_SHARD_METADATA, "TensorProperties", kClass},
    {COHORT_SHARD_METADATA, "MEM_FORMAT_ENCODING", kObject},
    {"torch.distributed.checkpoint.filesystem", "_StorageInfo", kClass},
    {"builtins", "getattr", kCall, member_of_enum},
    {"pathlib", "PosixPath", kObject},
    {"pathlib", "WindowsPath", kObject},
    {"pathlib._local", "PosixPath", kObject},
    {"pathlib._local", "WindowsPath", kObject},
};
#undef COHORT_DCP_METADATA
#undef COHORT_SHARD_METADATA

constexpr std::span<const Global> kTorchTables[] = {kContainers, kTensors, kFacts};
constexpr std::span<const Global> kDcpTables[] = {kContainers, kFacts, kDcp};

}  // namespace

std::string full_name(const Global& global) {
  return fmt::format("{}.{}", global.module, global.name);
}

const Global* find_global(GlobalTable table, std::string_view module, std::string_view name) {
  if (module == "__builtin__") module = "builtins";
  for (const std::span<const Global> part : table) {
    const auto found = std::find_if(part.begin(), part.end(), [&](const Global& global) {
      return global.module == module && global.name == name;
    });
    if (found != part.end()) return &*found;
  }
  return nullptr;
}

GlobalTable plain_globals() {
  return {};
}
GlobalTable torch_globals() {
  return kTorchTables;
}
GlobalTable dcp_globals() {
  return kDcpTables;
}

std::string_view storage_name(DType dtype) {
  const auto* const found = std::find_if(std::begin(kTensors), std::end(kTensors), [&](const Global& global) {
    return global.use == kStorage && global.dtype == dtype;
  });
  COHORT_CHECK(found != std::end(kTensors));
  return found->name;
}

Status expect_arguments(std::span<const NodeId> arguments, std::size_t least, std::size_t most) {
  if (arguments.size() >= least && arguments.size() <= most) return {};
  return Error(ErrorCode::kCorrupt,
               fmt::format("expected {} … {} arguments, found {}", least, most, arguments.size()));
}

}  // namespace cohort::interchange
