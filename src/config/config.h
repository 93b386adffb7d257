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
};

/// [doctor]: how the machine is examined.
struct DoctorConfig {
  bool probe_libtorch{};
  std::chrono::nanoseconds probe_limit{};
  double memory_headroom{};
};

struct DataConfig {
  std::string kind;  // idx csv text digits spirals regression markov
  std::string path;
  std::string test_path;
  std::string tokens /* byte char */;
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
  int loader_threads{};
  int prefetch{};
};
struct ModelConfig {
  std::string kind;  // linear logistic softmax mlp lenet resnet18 gpt
  std::vector<int> hidden;
  std::string activation /* relu gelu tanh */;
  double dropout{};
  int layers{};
  int width{};
  int heads{};
  std::string initial /* safetensors file, or empty */;
  bool channels_last{};
};
struct UpdateConfig {
  std::string rule /* sgd momentum nesterov adam adamw */;
  double learning_rate{}, momentum{}, beta1{}, beta2{}, epsilon{}, weight_decay{};
  std::string schedule /* constant step exponential cosine */;
  int warmup_steps{};
  int schedule_steps{};
  double schedule_factor{};
  double final_learning_rate{};
  std::vector<std::string> groups /* "*.bias: weight_decay=0, learning_rate=1e-4" */;
  double clip_norm{} /* 0: none */;
  double clip_value{};
  bool skip_non_finite{};
};
struct TrainConfig {
  int batch{} /* global; 0: all samples */;
  int slots{} /* 0: one per rank */;
  int epochs{};
  std::optional<int> steps;
  int evaluate_every{} /* epochs */;
  int patience{} /* 0: none */;
  std::uint64_t seed{};
  std::string deterministic /* world any-world */;
  std::string directory;
  std::uint64_t bucket_bytes{};
  int hash_every{} /* steps between replica hashes */;
};

/// Everything a TOML file can say, checked and typed. Defaults, ranges and help stand in the table of
/// keys.cpp; default_config() makes one.
struct Config {
  LogConfig log;
  LaunchConfig launch;
  DoctorConfig doctor;
};

}  // namespace cohort
