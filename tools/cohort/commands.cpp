#include "commands.h"

namespace cohort::tool {

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_train_command());
  commands.push_back(make_lr_range_command());
  commands.push_back(make_evaluate_command());
  commands.push_back(make_predict_command());
  commands.push_back(make_run_command());
  commands.push_back(make_new_command());
  commands.push_back(make_doctor_command());
  commands.push_back(make_doctor_links_command());
  commands.push_back(make_doctor_listen_command());
  commands.push_back(make_doctor_reach_command());
  commands.push_back(make_bench_comm_command());
  commands.push_back(make_bench_step_command());
  commands.push_back(make_bench_optimizers_command());
  commands.push_back(make_bench_checkpoint_command());
  commands.push_back(make_bench_form_command());
  commands.push_back(make_bench_ranks_command());
  commands.push_back(make_bench_rank_command());
  commands.push_back(make_optimizer_rank_command());
  commands.push_back(make_checkpoint_rank_command());
  commands.push_back(make_checkpoint_list_command());
  commands.push_back(make_checkpoint_show_command());
  commands.push_back(make_checkpoint_verify_command());
  commands.push_back(make_checkpoint_diff_command());
  commands.push_back(make_checkpoint_convert_command());
  commands.push_back(make_checkpoint_prune_command());
  commands.push_back(make_config_explain_command());
  commands.push_back(make_config_check_command());
  commands.push_back(make_config_show_command());
  commands.push_back(make_version_command());
  commands.push_back(make_key_command());
  commands.push_back(make_agent_command());
  commands.push_back(make_completion_command());
  commands.push_back(make_complete_command());
  commands.push_back(make_reference_command());
  return commands;
}

}  // namespace cohort::tool
