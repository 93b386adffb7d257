#pragma once

// All of Cohort.
#include <cohort/broadcast_state.h>
#include <cohort/context.h>
#include <cohort/data_parallel.h>
#include <cohort/dataset.h>
#include <cohort/default_limit.h>
#include <cohort/dropout.h>
#include <cohort/dtype.h>
#include <cohort/error.h>
#include <cohort/evaluation.h>
#include <cohort/export.h>
#include <cohort/group.h>
#include <cohort/learning_rate_schedule.h>
#include <cohort/link_settings.h>
#include <cohort/log.h>
#include <cohort/numbers.h>
#include <cohort/optimizer.h>
#include <cohort/random.h>
#include <cohort/reduce_op.h>
#include <cohort/step_report.h>
#include <cohort/tensor.h>
#include <cohort/trainer.h>
#include <cohort/version.h>
#include <cohort/views.h>
#include <cohort/work.h>
