#include "config/sections.h"

namespace cohort::config {

std::vector<Key> model_keys() {
  return {
      word("model.kind", COHORT_FIELD(model.kind),
           {"linear", "logistic", "softmax", "mlp", "lenet", "resnet18", "gpt"}, "mlp",
           "What is trained; its inputs and outputs follow from the data."),
      whole_number_list("model.hidden", COHORT_FIELD(model.hidden), {128}, {1, 1'000'000},
                        "The widths of the hidden layers of an mlp, from input to output."),
      word("model.activation", COHORT_FIELD(model.activation), {"relu", "gelu", "tanh"}, "relu",
           "What stands behind each hidden layer of an mlp."),
      real_number("model.dropout", COHORT_FIELD(model.dropout), 0.0, {0.0, 0.99},
                  "The share of activations that is dropped while training, in models that have a place for "
                  "it."),
      whole_number("model.layers", COHORT_FIELD(model.layers), 4, {1, 1024}, "How many blocks a gpt has."),
      whole_number("model.width", COHORT_FIELD(model.width), 128, {1, 65536},
                   "How many numbers stand for a token in a gpt."),
      whole_number("model.heads", COHORT_FIELD(model.heads), 4, {1, 1024},
                   "How many heads the attention of a gpt has; they divide its width."),
      text("model.initial", COHORT_FIELD(model.initial),
           {"A safetensors file with the parameters to start from; empty: random ones by train.seed.",
            "runs/job/best.safetensors"}),
      flag("model.channels_last", COHORT_FIELD(model.channels_last), true,
           "Keep the images of lenet and resnet18 with their channels last in memory, which is faster."),
  };
}

}  // namespace cohort::config
