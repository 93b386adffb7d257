#include "comm/shared_memory/processes/ranks.h"

int main(int argc, char** argv) {
  return cohort::test::run_tests_or_role(argc, argv, cohort::test::shared_memory_roles());
}
