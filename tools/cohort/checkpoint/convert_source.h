#pragma once

#include "checkpoint/whole_tensors.h"
#include "interchange/dcp.h"
#include "interchange/torch_file.h"
#include "storage/file_system.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

/// The tensors to convert, as the user names them.
struct SourceOrder {
  std::string path{};
  std::string format{};              ///< `cohort`, `torch`, `dcp`; empty: by the look of the path
  bool has_optimizer = false;        ///< the state of the optimizer is wanted, too
  std::vector<std::string> rules{};  ///< for names: `module.* -> *`
};

/// A rule for names, and the number of tensors that it has renamed.
struct RuleUse {
  std::string rule{};
  std::size_t num_tensors = 0;
};

/// Applies rules to the names of all tensors of a source.
///
/// Failure: kUsage if two tensors get the same name.
Result<std::vector<RuleUse>> use_rules(const interchange::NameRules& rules,
                                       const std::vector<std::string>& names);

/// Tensors that are converted: those of a snapshot, of a file of torch.save(), or of a directory of
/// torch.distributed.checkpoint. They are read on demand.
///
/// Lifetime: must not move, and the file system must outlive it.
class ConvertSource {
 public:
  /// Failure: kUsage for rules and paths; errors of the formats.
  static Result<std::unique_ptr<ConvertSource>> open(FileSystem& files, const SourceOrder& order);

  const std::string& name() const { return name_; }
  const checkpoint::WholeTensors& tensors() const { return *tensors_; }
  const checkpoint::Course& course() const { return course_; }
  const std::vector<RuleUse>& rules() const { return rule_uses_; }

 private:
  ConvertSource() = default;
  Status open_snapshot(FileSystem& files, const SourceOrder& order);
  Status open_torch(FileSystem& files, const SourceOrder& order);
  Status open_dcp(FileSystem& files, const SourceOrder& order);

  std::string name_;
  interchange::NameRules rules_;
  std::vector<RuleUse> rule_uses_;
  checkpoint::Course course_;
  std::unique_ptr<checkpoint::Snapshot> snapshot_;
  std::optional<interchange::TorchFile> torch_;
  std::optional<interchange::DcpDirectory> dcp_;
  std::unique_ptr<state::PieceSource> pieces_;
  std::unique_ptr<checkpoint::WholeTensors> tensors_;
};

}  // namespace cohort::tool
