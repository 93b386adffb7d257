"""The models of src/model/ in Python, with the same names of parameters: weights written by one load into the other."""

import dataclasses

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass
class Spec:
    """The arguments of make_model(): keys of [model] and facts about the data."""

    kind: str
    hidden: tuple = ()
    activation: str = "relu"
    dropout: float = 0.0
    layers: int = 0
    width: int = 0
    heads: int = 0
    channels_last: bool = False
    input_shape: tuple = ()
    classes: int = 0
    outputs: int = 0
    vocabulary: int = 0
    context: int = 0


# The models of `cohort bench step`.
BENCH = {
    "mlp": Spec("mlp", hidden=(3200, 3200, 3200), input_shape=(784,), classes=10),
    "gpt": Spec("gpt", layers=6, width=384, heads=6, input_shape=(256,), vocabulary=65, context=256),
    "resnet18": Spec("resnet18", input_shape=(3, 32, 32), classes=10),
    "wide": Spec("mlp", input_shape=(8000,), classes=8000),
    "many": Spec("mlp", hidden=(8,) * 2999, input_shape=(8,), classes=8),
    "tiny": Spec("mlp", hidden=(31, 17), input_shape=(13,), classes=3),
    "lenet": Spec("lenet", input_shape=(1, 28, 28), classes=10),
    "softmax": Spec("softmax", input_shape=(784,), classes=10),
    "logistic": Spec("logistic", input_shape=(64,), classes=2),
    "linear": Spec("linear", input_shape=(64,), outputs=1),
}

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "tanh": torch.tanh}


def as_images(x):
    return x.unsqueeze(1) if x.dim() == 3 else x


class Perceptron(nn.Module):
    def __init__(self, spec, outputs):
        super().__init__()
        inputs = 1
        for size in spec.input_shape:
            inputs *= size
        widths = [inputs, *(spec.hidden if spec.kind == "mlp" else ()), outputs]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.activation, self.dropout = ACTIVATIONS[spec.activation], nn.Dropout(spec.dropout)

    def forward(self, x):
        x = x.flatten(1)
        for layer in self.layers[:-1]:
            x = self.dropout(self.activation(layer(x)))
        return self.layers[-1](x)


class LeNet(nn.Module):
    def __init__(self, spec):
        super().__init__()
        channels, height, width = (1, *spec.input_shape)[-3:]
        self.convolutions = nn.ModuleList([nn.Conv2d(channels, 16, 5, padding=2), nn.Conv2d(16, 32, 5, padding=2)])
        self.layers = nn.ModuleList([nn.Linear(32 * (height // 4) * (width // 4), 128), nn.Linear(128, spec.classes)])
        self.activation, self.dropout = ACTIVATIONS[spec.activation], nn.Dropout(spec.dropout)

    def forward(self, x):
        x = as_images(x)
        for convolution in self.convolutions:
            x = F.max_pool2d(self.activation(convolution(x)), 2)
        return self.layers[1](self.dropout(self.activation(self.layers[0](x.flatten(1)))))


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.shortcut_norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        return F.relu(y + (self.shortcut_norm(self.shortcut(x)) if self.shortcut else x))


class ResNet18(nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.stem = nn.Conv2d((1, *spec.input_shape)[-3], 64, 3, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(64)
        self.stages, inputs = nn.ModuleList(), 64
        for outputs in (64, 128, 256, 512):
            first = ResidualBlock(inputs, outputs, 1 if inputs == outputs else 2)
            self.stages.append(nn.ModuleList([first, ResidualBlock(outputs, outputs, 1)]))
            inputs = outputs
        self.dropout = nn.Dropout(spec.dropout)
        self.head = nn.Linear(512, spec.classes)

    def forward(self, x):
        x = F.relu(self.stem_norm(self.stem(as_images(x))))
        for stage in self.stages:
            for block in stage:
                x = block(x)
        return self.head(self.dropout(x.mean((2, 3))))


class Attention(nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.qkv = nn.Linear(spec.width, 3 * spec.width, bias=False)
        self.output = nn.Linear(spec.width, spec.width, bias=False)
        self.heads = spec.heads

    def forward(self, x):
        samples, tokens, width = x.shape
        qkv = self.qkv(x).view(samples, tokens, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.transpose(1, 2).reshape(samples, tokens, width))


class FeedForward(nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.expand = nn.Linear(spec.width, 4 * spec.width, bias=False)
        self.contract = nn.Linear(4 * spec.width, spec.width, bias=False)

    def forward(self, x):
        return self.contract(F.gelu(self.expand(x)))


class GptBlock(nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.attention_norm = nn.LayerNorm(spec.width, bias=False)
        self.attention = Attention(spec)
        self.mlp_norm = nn.LayerNorm(spec.width, bias=False)
        self.mlp = FeedForward(spec)
        self.dropout = nn.Dropout(spec.dropout)

    def forward(self, x):
        x = x + self.dropout(self.attention(self.attention_norm(x)))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))


class Gpt(nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.tokens = nn.Embedding(spec.vocabulary, spec.width)
        self.positions = nn.Embedding(spec.context, spec.width)
        self.dropout = nn.Dropout(spec.dropout)
        self.blocks = nn.ModuleList(GptBlock(spec) for _ in range(spec.layers))
        self.norm = nn.LayerNorm(spec.width, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                ends_branch = name.endswith(("output.weight", "contract.weight"))
                nn.init.normal_(parameter, std=0.02 / (2 * spec.layers) ** 0.5 if ends_branch else 0.02)

    def forward(self, x):
        x = self.dropout(self.tokens(x) + self.positions.weight[:x.shape[1]])
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tokens.weight)


def make_model(spec):
    if spec.kind == "lenet":
        model = LeNet(spec)
    elif spec.kind == "resnet18":
        model = ResNet18(spec)
    elif spec.kind == "gpt":
        model = Gpt(spec)
    else:
        model = Perceptron(spec, 1 if spec.kind == "logistic" else spec.classes or spec.outputs)
    return model.to(memory_format=torch.channels_last) if spec.channels_last else model


def mean_loss(spec, output, target):
    """The mean over samples of what src/model/loss.h sums."""
    if spec.kind == "logistic":
        return F.binary_cross_entropy_with_logits(output.flatten(), target.flatten().to(output.dtype))
    if spec.classes or spec.vocabulary:
        return F.cross_entropy(output.flatten(0, -2), target.flatten())
    return F.mse_loss(output, target.view_as(output))


def random_batch(spec, samples, generator):
    """(input, target) of the right shape, for measuring."""
    shape = (samples, *spec.input_shape)
    if spec.vocabulary:
        return tuple(torch.randint(spec.vocabulary, shape, generator=generator) for _ in range(2))
    x = torch.randn(shape, generator=generator)
    if spec.classes:
        return x, torch.randint(spec.classes, (samples,), generator=generator)
    return x, torch.randn((samples, spec.outputs), generator=generator)
