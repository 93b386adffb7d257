evaluate model.safetensors --data rows.csv --part train
