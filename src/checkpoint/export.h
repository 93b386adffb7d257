#pragma once

#include "checkpoint/whole_tensors.h"
#include "storage/file_system.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

// Snapshots, and files of other systems, in other forms: their tensors are whole there, whatever the layout
// was in which ranks held them.

namespace cohort::checkpoint {

using TensorList = std::vector<const WholeTensor*>;

/// The tensors of the model, or all tensors.
enum class Part : std::uint8_t { kModel, kAll };
TensorList tensors_of(const WholeTensors& tensors, Part part);
/// The sum of their bytes.
std::uint64_t size_bytes(const TensorList& tensors);

/// Cuts a list into files of at most so many bytes; a tensor that is larger has a file of its own. Pure.
std::vector<TensorList> cut_into_files(const TensorList& tensors, std::uint64_t most_bytes);

/// The name of one of several files: `model-00001-of-00003.safetensors` for index 0.
std::string weight_file(std::size_t index, std::size_t count);

/// The texts of `__metadata__` for a file with tensors: step, epoch, and the settings whose
/// names begin with `cohort.`, which are facts about the model.
std::map<std::string, std::string> metadata_of(const Course& course);

struct Export {
  const WholeTensors& from;
  const Course& course;
  FileSystem& files;
  std::string path{};                           ///< of the file or folder to write, which does not exist
  std::function<void(std::uint64_t)> report{};  ///< gets the number of bytes written since its last call
};

/// Writes one safetensors file.
///
/// Failure: kAlreadyExists; as WholeTensors::stream() and write_file_atomically().
/// Cost: memory as WholeTensors::stream().
Status export_safetensors(const Export& to, const TensorList& tensors);

/// Writes a folder with files of at most so many bytes and the index of Hugging Face, which is written last.
///
/// Failure and cost: as export_safetensors().
Status export_huggingface(const Export& to, const TensorList& tensors, std::uint64_t most_bytes);

/// Writes a full snapshot with this course into the folder of snapshots at `path`, in the layout of one rank,
/// with files of about so many bytes. A difference becomes independent of its base so.
///
/// Failure: kAlreadyExists if the folder has a snapshot of this step; as WholeTensors::read() and
/// commit_snapshot().
/// Cost: memory for one file.
Status export_snapshot(const Export& to, std::uint64_t most_bytes);

}  // namespace cohort::checkpoint
