#pragma once

#include "storage/file_system.h"

#include <span>
#include <string>
#include <string_view>

namespace cohort {

/// The files of a run with a trained model.
inline constexpr std::string_view kBestModel = "best.safetensors";
inline constexpr std::string_view kLastModel = "last.safetensors";
inline constexpr std::string_view kAverageModel = "average.safetensors";
/// The folder of its snapshots.
inline constexpr std::string_view kCheckpoints = "checkpoints";
/// A line of JSON for each step.
inline constexpr std::string_view kStepLog = "steps.jsonl";
/// All of them, which belong together.
inline constexpr std::string_view kResultsOfRun[] = {kBestModel, kLastModel, kAverageModel, kCheckpoints,
                                                     kStepLog};

/// Makes a folder ready for the files of a new run, `results` by their names:
///
/// - creates the folder, and the folders above it;
/// - removes temporary files of `results` that a killed writer left;
/// - moves the `results` of an earlier run, together, into a new sub-folder earlier-1, earlier-2, …, so that
///   no file is ever replaced or removed;
/// - checks that files can be written, by writing one and removing it.
///
/// Threads: one run at a time uses a folder, counting all processes.
/// Failure: as FileSystem, naming the folder. Results that were moved before the failure stay moved.
Status prepare_run_directory(FileSystem& files, const std::string& directory,
                             std::span<const std::string_view> results);

/// Success if prepare_run_directory() can be expected to succeed: the folder, or the nearest folder above it
/// that exists, may be written to, and no file is in the way. Changes nothing.
///
/// Failure: as FileSystem, naming the folder.
Status check_run_directory(FileSystem& files, const std::string& directory);

}  // namespace cohort
