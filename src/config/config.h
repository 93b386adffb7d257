#pragma once

#include <cohort/collective_algorithm.h>
#include <cohort/log.h>
#include <cohort/optimizer.h>
#include <cohort/precision.h>
#include <cohort/solver_settings.h>
#include <cohort/wire_dtype.h>

#include "base/log_sink.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cohort {

/// [log]: messages of commands.
struct LogConfig {
  LogLevel level{};
  LogFormat format{};
};

/// [launch]: the ranks of a job and the resources of each rank.
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

/// [communication]: transport and algorithms.
struct CommunicationConfig {
  std::string backend;                           ///< auto tcp ucx mpi
  std::optional<CollectiveAlgorithm> algorithm;  ///< not set: the shortest predicted time
  std::optional<std::uint64_t> chunk;            ///< not set: the shortest predicted time
  WireDType wire{};                              ///< the key is precision.gradients
  std::optional<int> sockets;                    ///< not set: the faster number
  bool explain{};
};

/// [doctor]: the examination of the machine.
struct DoctorConfig {
  bool probe_libtorch{};
  std::chrono::nanoseconds probe_limit{};
  double memory_headroom{};
};

/// [data]: the samples.
struct DataConfig {
  std::string kind;  ///< idx csv text digits spirals regression markov
  std::string path;
  std::string test_path;
  std::string tokens;  ///< byte char
  std::string target_column;
  std::string target;  ///< auto class number
  int samples{};
  int test_samples{};
  std::optional<double> test_share;
  std::string split;  ///< auto random stratified end
  int classes{};
  int features{};
  int image_size{};
  double noise{};
  int context{};
  std::optional<int> stride;
  bool normalize{};
  bool shuffle{};
  int loader_threads{};
  int prefetch{};
};

/// [model]: the model to train.
struct ModelConfig {
  std::string kind{};  ///< linear logistic softmax mlp lenet resnet18 gpt
  std::vector<int> hidden{};
  std::string activation{};  ///< relu gelu tanh
  double dropout{};
  int layers{};
  int width{};
  int heads{};
  std::string initial{};             ///< a safetensors file, or empty
  std::string batch_norm = "local";  ///< or synchronised
  bool channels_last{};
};

/// [optimizer]: how parameters are updated from their gradients. `kind` is not set: `name` is.
struct OptimizerConfig : OptimizerSettings {
  std::string name;
  std::vector<std::string> groups;  ///< "*.bias: weight_decay=0, learning_rate=1e-4"
  double clip_grad_norm{};          ///< 0: no limit
  double clip_grad_value{};         ///< 0: no limit
  bool skip_non_finite{};
  SolverSettings solver{};  ///< if `name` is that of a solver; without kind, learning rate, weight decay
};

/// [schedule]: how the learning rate changes with the step. Steps that are 0 follow from the length of the
/// run.
struct ScheduleConfig {
  std::string name;  ///< constant step multi-step … as in learning_rate_curves.h
  int warmup_steps{};
  std::string warmup;  ///< linear constant exponential
  std::optional<double> warmup_start_factor;
  int step_size{};
  std::vector<int> milestones;  ///< empty: half and three quarters of the run
  double gamma{};
  int timescale{};
  int total_steps{};
  double power{};
  int t_max{};
  int t_0{};
  int t_mult{};
  double eta_min{};
  double pct_start{};
  std::string anneal_strategy;  ///< cos linear
  bool three_phase{};
  double div_factor{};
  double final_div_factor{};
  bool cycle_momentum{};
  double base_momentum{};
  double max_momentum{};
  int decay_steps{};
  std::string decay;   ///< linear cosine 1-sqrt
  std::string metric;  ///< evaluation training
  double factor{};
  int patience{};
  double threshold{};
  std::string threshold_mode;  ///< rel abs
  int cooldown{};
  double min_lr{};
  double eps{};
  std::string scale_with_batch;  ///< none linear sqrt
  int base_batch_size{};         ///< 0: not set
};

/// [precision]: the types of numbers, and the scale of the loss.
struct PrecisionConfig {
  ComputeType compute{};
  DType parameters{};
  LossScaling loss_scaling{};
  double loss_scale{};  ///< of LossScaling::kStatic
  double initial_scale{};
  double growth_factor{};
  double backoff_factor{};
  int growth_interval{};
  int hysteresis{};
  double least_scale{};
  int fallback_steps{};  ///< 0: none
};

/// [average]: an average of the parameters, beside them.
struct AverageConfig {
  std::string kind;  ///< none ema swa
  double decay{};
  bool warmup{};
  int start{};  ///< updates
  int every{};  ///< updates
  bool evaluate{};
  bool update_bn{};
};

/// [mask]: elements of parameters that stay zero.
struct MaskConfig {
  double sparsity{};                    ///< 0: none by magnitude
  std::vector<std::string> parameters;  ///< patterns; empty: those of two dimensions or more
  std::string file;                     ///< a safetensors file, or empty
};

/// [train]: the training loop.
struct TrainConfig {
  int batch_size{};     ///< over all ranks; 0: all samples
  int micro_batches{};  ///< 0: one per rank
  int epochs{};
  std::optional<int> steps;
  int evaluate_every{};  ///< epochs
  int patience{};        ///< evaluations without improvement; 0: no early stopping
  std::uint64_t seed{};
  std::string deterministic;  ///< world any-world
  std::string directory;      ///< if not set, load() makes it runs/<name of the job>
  std::uint64_t bucket_bytes{};
  bool one_copy{};
  int hash_every{};                  ///< steps between comparisons of the replicas; 0: never
  std::vector<double> rank_factors;  ///< empty: 1 for every rank
  std::optional<std::chrono::nanoseconds> time_limit{};
};

/// A number of steps, or a time.
struct Interval {
  std::optional<std::int64_t> steps{};
  std::optional<std::chrono::nanoseconds> time{};
};

/// [checkpoint]: snapshots of the training.
struct CheckpointConfig {
  std::optional<Interval> every{};  ///< not set: no snapshots
  std::string directory{};          ///< empty: `checkpoints` in the run directory
  int keep_last{};
  int keep_best{};
  int keep_every{};  ///< 0: none for their step
  bool background{};
  bool compress{};
  int full_every{};
};

/// [trace]: the times of actions and calls.
struct TraceConfig {
  std::string file;  ///< empty: nothing is recorded
  int capacity{};    ///< actions per lane
};

/// All settings of a job file. Defaults, ranges and help are in the tables of keys_*.cpp.
struct Config {
  LogConfig log;
  LaunchConfig launch;
  CommunicationConfig communication;
  DoctorConfig doctor;
  DataConfig data;
  ModelConfig model;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  PrecisionConfig precision;
  AverageConfig average;
  MaskConfig mask;
  TrainConfig train;
  CheckpointConfig checkpoint;
  TraceConfig trace;
};

}  // namespace cohort
