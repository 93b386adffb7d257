checkpoint convert ../../checkpoint/golden x --to huggingface --shard-size many
