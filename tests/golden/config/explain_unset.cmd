config explain train.directory
