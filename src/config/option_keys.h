#pragma once

#include <string>
#include <string_view>

namespace cohort::config {

/// The text with each option of the C++ API replaced by the key of a job file that sets it:
/// `TrainerOptions::batch_size` becomes `train.batch_size`. The library words its errors for C++ programs;
/// the ranks of `cohort train` print them by this function.
///
/// Options without a key, such as `TrainerOptions::on_step`, are left as they are.
std::string with_keys(std::string_view text);

}  // namespace cohort::config
