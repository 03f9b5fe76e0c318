# SPDX-License-Identifier: BSD-2-Clause
# Recurrent networks, packed sequences and attention against PyTorch.
# CASES: (name, source of a scripted function, builder of its arguments).
import itertools

import torch

SUMS = True
CASES = []
PAIR, TRIPLE = "Tuple[Tensor, Tensor]", "Tuple[Tensor, Tensor, Tensor]"


def random(*sizes, seed=0):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def weights(gates, inputs, hidden, layers, ways, biases, projected):
    made, width = [], projected or hidden
    for layer in range(layers):
        for _ in range(ways):
            sizes = [(gates * hidden, inputs if layer == 0 else width * ways), (gates * hidden, width)]
            sizes += [(gates * hidden,)] * (2 if biases else 0) + ([(projected, hidden)] if projected else [])
            made += [random(*s, seed=len(made) + i) * 0.3 for i, s in enumerate(sizes)]
    return made


def network(kind, gates, layers, both, biases, first, projected, packed):
    inputs, hidden, steps, batch, ways = 5, 7, 6, 4, 2 if both else 1
    width = projected or hidden

    def args():
        x = random(12, inputs) if packed else random(batch, steps, inputs) if first else random(steps, batch, inputs)
        h, c = random(layers * ways, batch, width, seed=1), random(layers * ways, batch, hidden, seed=2)
        return (x, h, c, weights(gates, inputs, hidden, layers, ways, biases, projected))

    lstm = kind == "lstm"
    states = "[h, c]" if lstm else "h"
    call = f"torch.{kind}(x, sizes, {states}, p, {biases}, {layers}, 0.0, False, {both})" if packed else \
           f"torch.{kind}(x, {states}, p, {biases}, {layers}, 0.5, False, {both}, {first})"
    sizes = "    sizes = torch.tensor([4, 4, 3, 1])\n" if packed else ""
    text = f"def f(x: Tensor, h: Tensor, c: Tensor, p: List[Tensor]) -> {TRIPLE if lstm else PAIR}:\n{sizes}    return {call}\n"
    name = f"{kind}-{layers}-{'both' if both else 'one'}-{'bias' if biases else 'plain'}-{'packed' if packed else 'batch' if first else 'time'}"
    CASES.append((name + (f"-projected" if projected else ""), text, args))


for (kind, gates), layers, both, biases, first in itertools.product(
        (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)), (1, 2), (False, True), (False, True), (False, True)):
    network(kind, gates, layers, both, biases, first, 0, False)
    if not first:
        network(kind, gates, layers, both, biases, False, 0, True)
    if kind == "lstm":
        network(kind, gates, layers, both, biases, first, 3, False)

# Wider networks, whose weights belong to the model and are therefore kept packed: with full and partial blocks of
# units, a few rows, and more rows than a tile of the kernels.
NETWORKS = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn_tanh": torch.nn.RNN, "rnn_relu": torch.nn.RNN}


class Wide(torch.nn.Module):
    def __init__(self, kind, hidden, **settings):
        super().__init__()
        if kind == "rnn_relu":
            settings["nonlinearity"] = "relu"
        self.net = NETWORKS[kind](24, hidden, **settings).eval()
        for i, p in enumerate(self.net.parameters()):
            p.data = random(*p.shape, seed=i) * 0.2

    def forward(self, x):
        y, state = self.net(x)
        return y, state


def wide(kind, hidden, batch, steps, **settings):
    name = "-".join([f"wide-{kind}-{hidden}-{batch}x{steps}"] + [f"{k}_{v}" for k, v in settings.items()])
    CASES.append((name, lambda: Wide(kind, hidden, **settings), lambda: (random(steps, batch, 24, seed=9),)))


for kind, (hidden, batch, steps) in itertools.product(NETWORKS, ((12, 1, 9), (32, 2, 1), (40, 1, 8), (64, 5, 3), (97, 33, 3))):
    wide(kind, hidden, batch, steps, num_layers=2)
for kind in NETWORKS:
    wide(kind, 48, 3, 4, bidirectional=True, num_layers=2)
    wide(kind, 33, 1, 7, bias=False)
for batch in (1, 9):
    wide("lstm", 40, batch, 7, proj_size=17, num_layers=2)

for kind, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    for bias in (True, False):
        states, result = ("[h, c]", PAIR) if kind == "lstm" else ("h", "Tensor")
        text = (f"def f(x: Tensor, h: Tensor, c: Tensor, p: List[Tensor]) -> {result}:\n"
                f"    return torch.{kind}_cell(x, {states}, p[0], p[1]{', p[2], p[3]' if bias else ''})\n")
        CASES.append((f"{kind}_cell-{bias}", text, lambda gates=gates: (random(3, 5), random(3, 7, seed=1), random(3, 7, seed=2),
                                                                         weights(gates, 5, 7, 1, 1, True, 0))))
        for turned in (False, True):
            sides = "p[0].t().contiguous().t(), p[1][:, :40]" if turned else "p[0], p[1].contiguous()"
            text = (f"def f(x: Tensor, h: Tensor, c: Tensor, p: List[Tensor]) -> {result}:\n"
                    f"    return torch.{kind}_cell(x, {states}, {sides}{', p[2], p[3]' if bias else ''})\n")
            CASES.append((f"{kind}_cell-{bias}-wide-{turned}", text, lambda gates=gates, turned=turned: (
                random(11, 20), random(11, 40, seed=1), random(11, 40, seed=2),
                [random(gates * 40, 20, seed=3) * 0.3, random(gates * 40, 41 if turned else 40, seed=4) * 0.3,
                 random(gates * 40, seed=5), random(gates * 40, seed=6)])))

for first in (False, True):
    shape = (4, 6, 3) if first else (6, 4, 3)
    for lengths in ([6, 5, 2, 1], [6, 6, 6, 6], [3, 2, 2, 1], [5, 6, 1, 1], [3, 2, 1, 0]):
        text = f"def f(x: Tensor) -> {PAIR}:\n    return torch._pack_padded_sequence(x, torch.tensor({lengths}), {first})\n"
        CASES.append((f"pack-{first}-{lengths}", text, lambda shape=shape: (random(*shape),)))
    for total in (-1, 6, 3):
        text = (f"def f(x: Tensor) -> {PAIR}:\n"
                f"    return torch._pad_packed_sequence(x, torch.tensor([4, 4, 3, 1]), {first}, -1.5, {total})\n")
        CASES.append((f"pad-{first}-{total}", text, lambda: (random(12, 3),)))

# ---- attention
ATTENTION = "torch._native_multi_head_attention(x, x, x, 8, {heads}, p[0], p[1], p[2], p[3], {mask}, True, {average}, {kind})"


def attention_args():
    return (random(3, 5, 8), [random(24, 8, seed=1), random(24, seed=2), random(8, 8, seed=3), random(8, seed=4)])


def attention(name, expression, before=""):
    CASES.append((name, f"def f(x: Tensor, p: List[Tensor]) -> {PAIR}:\n{before}    return {expression}\n", attention_args))


KEYS = "    mask = torch.arange(5).unsqueeze(0) > torch.tensor([[4], [2], [0]])\n"
for average in (True, False):
    attention(f"attention-{average}", ATTENTION.format(heads=2, mask=None, average=average, kind=None))
    attention(f"attention-keys-{average}", ATTENTION.format(heads=4, mask="mask", average=average, kind=1), KEYS)
attention("attention-turned", ATTENTION.format(heads=2, mask=None, average=True, kind=None),
          "    x = x.transpose(0, 1).contiguous().transpose(0, 1)\n")
CASES.append(("attention-apart", f"def f(x: Tensor, p: List[Tensor]) -> {PAIR}:\n    y, z = x.flip(1), x * 2\n    return "
              + ATTENTION.format(heads=2, mask=None, average=True, kind=None).replace("x, x, x", "x, y, z") + "\n", attention_args))
# Half precision, which PyTorch 1.13 refuses. The results must be near those of floats; how near depends on which
# intermediate results are rounded.
HALVES = ("def f(x: Tensor, p: List[Tensor]) -> Tuple[bool, int]:\n    floats = {0}\n    x = x.to(torch.bfloat16)\n    p = [q.to(torch.bfloat16) for q in p]\n"
          "    halves = {0}\n    return bool((halves - floats).abs().max() < 0.05 * floats.abs().max()), halves.dtype\n")
NEAR = {"expect": lambda x, p: (True, 15)}  # 15 is the dtype bfloat16
CASES.append(("attention-halves", HALVES.format(ATTENTION.format(heads=2, mask=None, average=True, kind=None) + "[0]"), attention_args, NEAR))
attention("attention-fails", ATTENTION.format(heads=3, mask=None, average=True, kind=None))


def encoder_args():
    sizes = [(24, 8), (24,), (8, 8), (8,), (8,), (8,), (8,), (8,), (16, 8), (16,), (8, 16), (8,)]
    return (random(3, 5, 8), [random(*s, seed=i) for i, s in enumerate(sizes)])


for gelu, first in itertools.product((False, True), repeat=2):
    call = (f"torch._transformer_encoder_layer_fwd(x, 8, 2, p[0], p[1], p[2], p[3], {gelu}, {first}, 1e-5, p[4], p[5], p[6], p[7], "
            "p[8], p[9], p[10], p[11]{})")
    for name, before, tail in (("", "", ""), ("-keys", KEYS, ", mask, 1")):
        CASES.append((f"encoder-{gelu}-{first}{name}", f"def f(x: Tensor, p: List[Tensor]) -> Tensor:\n{before}    return {call.format(tail)}\n",
                      encoder_args))

CASES.append(("encoder-halves", HALVES.format(call.format("")), encoder_args, NEAR))

for name, mask, causal in (("", "None", False), ("-bool", "m > 0", False), ("-float", "m", False), ("-causal", "None", True),
                           ("-fails", "m", True)):
    text = (f"def f(q: Tensor, k: Tensor, v: Tensor, m: Tensor) -> {PAIR}:\n"
            f"    return torch._C._nn._scaled_dot_product_attention(q, k, v, {mask}, 0.0, True, {causal})\n")
    CASES.append(("dot_product" + name, text, lambda: (random(2, 3, 5, 4), random(2, 3, 6, 4, seed=1), random(2, 3, 6, 7, seed=2),
                                                        random(5, 6, seed=3).abs() + 0.1)))
