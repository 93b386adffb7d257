#include "observe/step_record.h"

#include <nlohmann/json.hpp>

namespace cohort::observe {

std::string json_line(const StepRecord& record) {
  nlohmann::ordered_json object{{"step", record.step},
                                {"epoch", record.epoch},
                                {"loss", record.loss},
                                {"learning_rate", record.learning_rate},
                                {"samples", record.samples},
                                {"seconds", record.seconds},
                                {"communication_seconds", record.communication_seconds},
                                {"stall_seconds", record.stall_seconds}};
  if (record.gradient_norm) object["gradient_norm"] = *record.gradient_norm;
  object["skipped"] = record.skipped;
  return object.dump() + '\n';
}

}  // namespace cohort::observe
