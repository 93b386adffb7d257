#pragma once

#include <cohort/log.h>

#include "base/log_sink.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cohort {

/// [log]: what is said while a command works.
struct LogConfig {
  LogLevel level{};
  LogFormat format{};
};

/// [launch]: the processes of a job and what each of them needs.
struct LaunchConfig {
  int ranks{};
  std::optional<int> threads_per_rank;
  std::uint64_t memory_per_rank{};
  std::uint64_t shared_memory_per_rank{};
  int open_files_per_rank{};
  std::vector<std::string> interfaces;
  std::chrono::nanoseconds wait_limit{};
  std::chrono::nanoseconds liveness{};
};

/// [communication]: how ranks talk.
struct CommunicationConfig {
  std::string engine;     ///< auto tcp ucx mpi
  std::string algorithm;  ///< empty: the fastest by prediction
  std::uint64_t chunk{};  ///< 0: the fastest by prediction
  std::string wire;       ///< same bf16 f16
  int sockets{};
  bool explain{};
};

/// [doctor]: how the machine is examined.
struct DoctorConfig {
  bool probe_libtorch{};
  std::chrono::nanoseconds probe_limit{};
  double memory_headroom{};
};

/// [data]: what is learned from.
struct DataConfig {
  std::string kind;  ///< idx csv text digits spirals regression markov
  std::string path;
  std::string test_path;
  std::string tokens;  ///< byte char
  std::string target_column;
  int samples{};
  int test_samples{};
  double test_share{};
  int classes{};
  int features{};
  int image_size{};
  double noise{};
  int context{};
  bool normalise{};
  bool shuffle{};
  int loader_threads{};
  int prefetch{};
};

/// [model]: what is trained.
struct ModelConfig {
  std::string kind{};  ///< linear logistic softmax mlp lenet resnet18 gpt
  std::vector<int> hidden{};
  std::string activation{};  ///< relu gelu tanh
  double dropout{};
  int layers{};
  int width{};
  int heads{};
  std::string initial{};  ///< a safetensors file, or empty
  bool channels_last{};
};

/// [update]: how gradients move parameters.
struct UpdateConfig {
  std::string rule;  ///< sgd momentum nesterov adam adamw
  double learning_rate{};
  double momentum{};
  double beta1{};
  double beta2{};
  double epsilon{};
  double weight_decay{};
  std::string schedule;  ///< constant step exponential cosine
  int warmup_steps{};
  int schedule_steps{};
  double schedule_factor{};
  double final_learning_rate{};
  std::vector<std::string> groups;  ///< "*.bias: weight_decay=0, learning_rate=1e-4"
  double clip_norm{};               ///< 0: none
  double clip_value{};              ///< 0: none
  bool skip_non_finite{};
};

/// [train]: the loop.
struct TrainConfig {
  int batch{};  ///< over all ranks; 0: all samples
  int slots{};  ///< 0: one per rank
  int epochs{};
  std::optional<int> steps;
  int evaluate_every{};  ///< epochs
  int patience{};        ///< evaluations without improvement; 0: no early end
  std::uint64_t seed{};
  std::string deterministic;  ///< world any-world
  std::string directory;      ///< load() fills in runs/<name of the job> where none is set
  std::uint64_t bucket_bytes{};
  bool one_copy{};
  int hash_every{};  ///< steps between comparisons of the replicas; 0: never
};

/// Everything a TOML file can say, checked and typed. Defaults, ranges and help stand in the tables
/// of keys_*.cpp; default_config() makes one.
struct Config {
  LogConfig log;
  LaunchConfig launch;
  CommunicationConfig communication;
  DoctorConfig doctor;
  DataConfig data;
  ModelConfig model;
  UpdateConfig update;
  TrainConfig train;
};

}  // namespace cohort
