#pragma once

#include "command.h"

#include <memory>
#include <vector>

namespace cohort::tool {

/// Every command, in the order of the help. A new command is a line here and a file.
std::vector<std::unique_ptr<Command>> make_commands();

std::unique_ptr<Command> make_version_command();
std::unique_ptr<Command> make_train_command();
std::unique_ptr<Command> make_lr_range_command();
std::unique_ptr<Command> make_evaluate_command();
std::unique_ptr<Command> make_predict_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_new_command();
std::unique_ptr<Command> make_doctor_command();
std::unique_ptr<Command> make_doctor_links_command();
std::unique_ptr<Command> make_doctor_listen_command();
std::unique_ptr<Command> make_doctor_reach_command();
std::unique_ptr<Command> make_bench_comm_command();
std::unique_ptr<Command> make_bench_step_command();
std::unique_ptr<Command> make_bench_optimizers_command();
std::unique_ptr<Command> make_optimizer_rank_command();
std::unique_ptr<Command> make_bench_form_command();
std::unique_ptr<Command> make_bench_ranks_command();
std::unique_ptr<Command> make_bench_rank_command();
std::unique_ptr<Command> make_bench_checkpoint_command();
std::unique_ptr<Command> make_checkpoint_rank_command();
std::unique_ptr<Command> make_checkpoint_list_command();
std::unique_ptr<Command> make_checkpoint_show_command();
std::unique_ptr<Command> make_checkpoint_verify_command();
std::unique_ptr<Command> make_checkpoint_diff_command();
std::unique_ptr<Command> make_checkpoint_convert_command();
std::unique_ptr<Command> make_checkpoint_prune_command();
std::unique_ptr<Command> make_config_explain_command();
std::unique_ptr<Command> make_config_check_command();
std::unique_ptr<Command> make_config_show_command();
std::unique_ptr<Command> make_key_command();
std::unique_ptr<Command> make_agent_command();
std::unique_ptr<Command> make_completion_command();
std::unique_ptr<Command> make_complete_command();
std::unique_ptr<Command> make_reference_command();

}  // namespace cohort::tool
