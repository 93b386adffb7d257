checkpoint convert ../../checkpoint/golden x --to safetensor
