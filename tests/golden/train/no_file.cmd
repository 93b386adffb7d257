train
