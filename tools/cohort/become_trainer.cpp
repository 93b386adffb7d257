#include "become_trainer.h"

#include "base/system_error.h"
#include "run_job.h"

#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>

namespace cohort::tool {

Result<ExitCode> become_trainer(const Session& session, const std::vector<std::string>& arguments) {
  std::string program = trainer_program(session);
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  session.out.flush();
  ::execv(program.c_str(), pointers.data());
  return system_error(fmt::format("cannot start the trainer '{}'", program), errno)
      .with_remedy(kTrainerRemedy);
}

// `--input=` would be an option without a value, and `--input -x` two options.
void add_option_words(std::vector<std::string>& arguments, const std::string& option,
                      const std::string& value) {
  if (value.empty()) {
    arguments.insert(arguments.end(), {option, value});
  } else {
    arguments.push_back(option + "=" + value);
  }
}

}  // namespace cohort::tool
