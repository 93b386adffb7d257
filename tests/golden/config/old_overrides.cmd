config check --set update.rule=adamw --set train.batch=64 --set communication.engine=ucx fine.toml
