checkpoint convert ../../checkpoint/golden empty --to huggingface
