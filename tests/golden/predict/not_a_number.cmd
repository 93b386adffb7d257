predict model.safetensors rows.csv --top-k many
