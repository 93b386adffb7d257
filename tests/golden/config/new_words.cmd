config check --set optimizer.name=adamw --set train.batch_size=64 --set log.level=debug --set optimizer.betas=[0.8,0.95] fine.toml
