config check ambiguous_target.toml --set data.target=number --set train.directory=grades.csv/run
