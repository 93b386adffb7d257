checkpoint convert ../../checkpoint/golden x --to safetensors --shard-size 1GB
