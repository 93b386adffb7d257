#include "config/sections.h"

namespace cohort::config {

std::vector<Key> model_keys() {
  return {
      word("model.kind", COHORT_FIELD(model.kind),
           {"linear", "logistic", "softmax", "mlp", "lenet", "resnet18", "gpt"}, "mlp",
           "The model to train; its inputs and outputs follow from the data."),
      whole_number_list("model.hidden", COHORT_FIELD(model.hidden), {128}, {1, 1'000'000},
                        "The widths of the hidden layers of an mlp, from input to output."),
      word("model.activation", COHORT_FIELD(model.activation), {"relu", "gelu", "tanh"}, "relu",
           "The activation function after each hidden layer of an mlp."),
      real_number("model.dropout", COHORT_FIELD(model.dropout), 0.0, {0.0, 0.99},
                  "The probability of dropout, in models that have dropout layers."),
      whole_number("model.layers", COHORT_FIELD(model.layers), 4, {1, 1024},
                   "The number of blocks of a gpt."),
      whole_number("model.width", COHORT_FIELD(model.width), 128, {1, 65536},
                   "The embedding dimension of a gpt."),
      whole_number("model.heads", COHORT_FIELD(model.heads), 4, {1, 1024},
                   "The number of attention heads of a gpt; must divide model.width."),
      input_path("model.initial", COHORT_FIELD(model.initial),
                 {"A safetensors file with the parameters to start from; empty: random ones by train.seed.",
                  "runs/job/best.safetensors"}),
      word("model.batch_norm", COHORT_FIELD(model.batch_norm), {"local", "synchronised"}, "local",
           "Whether resnet18 normalises by the samples of a micro-batch, or by those of the micro-batches "
           "that "
           "all ranks compute at the same time."),
      flag("model.channels_last", COHORT_FIELD(model.channels_last), true,
           "Use the memory format channels_last for lenet and resnet18, which is faster."),
  };
}

}  // namespace cohort::config
