checkpoint convert ../../checkpoint/golden x --to safetensors --rename module
