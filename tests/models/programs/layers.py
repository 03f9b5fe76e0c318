# SPDX-License-Identifier: BSD-2-Clause
"""Layers of a generated module: expressions of float32 tensors that call submodules, which __init__ makes."""
from kinds import count, shape_text, tensor

IMAGE, SEQUENCE = (1, 4, 5, 5), (2, 3, 4)
QUANTIZED = {"linear": "nnq.Linear({}, {})", "conv": "nnq.Conv2d(4, 4, 3, padding=1)"}


def like_input(shape):
    """Returns the texts of constructors of layers that keep a shape."""
    n = shape[-1] if shape else 0
    made = []
    # Norms have a large eps and small inputs. Otherwise the norm of equal numbers would consist of the last bits of the mean,
    # and a value that is nearly 0 would be at a step of `%` or floor.
    if len(shape) >= 1:
        made += [f"nn.LayerNorm({n}, eps=0.5)", f"nn.Linear({n}, {n})", f"nn.Linear({n}, {n}, bias=False)", f"nn.Sequential(nn.Linear({n}, 4), nn.ReLU(), nn.Linear(4, {n}))", "nn.PReLU()",
                 "nn.Hardtanh(-1.0, 2.0)", "nn.Dropout(0.5)", "nn.Identity()", "nn.GELU()", "nn.Softmax(dim=-1)", "nn.LeakyReLU(0.2)", "nn.SiLU(inplace=True)"]
    if len(shape) == 2:
        made += [f"nn.BatchNorm1d({n})"]
    if len(shape) == 3:
        made += [f"nn.BatchNorm1d({shape[1]})", f"nn.Conv1d({shape[1]}, {shape[1]}, 3, padding=1)"]
    if shape == IMAGE:
        made += ["nn.Conv2d(4, 4, 3, padding=1)", "nn.Conv2d(4, 4, 1, bias=False)", "nn.Conv2d(4, 4, 3, padding=1, groups=4)", "nn.Conv2d(4, 4, 3, padding=2, dilation=2)",
                 "nn.ConvTranspose2d(4, 4, 3, padding=1)", "nn.BatchNorm2d(4)", "nn.BatchNorm2d(4, affine=False)", "nn.MaxPool2d(3, 1, 1)", "nn.AvgPool2d(3, 1, 1)", "nn.GroupNorm(2, 4, eps=0.5)",
                 "nn.InstanceNorm2d(4, eps=0.5)", "nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU6())", "nn.Sequential(nn.Conv2d(4, 4, 1), nn.Hardswish())",
                 "nn.ReLU(inplace=True)", "nn.UpsamplingNearest2d(size=(5, 5))", "nn.AdaptiveAvgPool2d(5)", "nn.Dropout2d(0.3)"]
    return made


def makers(module, e, shape):
    r = e.r
    x = lambda sh, d: e.expr(tensor("float32", sh), d)

    def kept(d):
        text = r.choice(like_input(shape))
        return f"({module.layer(text)}({x(shape, d)}.clamp(-50, 50)) + 0.013)" if "eps=" in text else f"{module.layer(text)}({x(shape, d)})"
    made = [kept] * 2 if shape else []
    if shape:
        n = shape[-1]
        made += [lambda d: f"{module.layer(f'nn.Linear(4, {n})')}({x(shape[:-1] + (4,), d)})", lambda d: linear(module, e, shape, d)]
        if count(shape) > 1:
            made.append(lambda d: f"F.linear({x(shape[:-1] + (3,), d)}, {module.parameter((n, 3))}{r.choice(['', ', ' + module.parameter((n,))])})")
        if len(shape) >= 2:
            made.append(lambda d: f"{module.layer(f'nn.Embedding(7, {n})')}({e.expr(tensor('int64', shape[:-1]), d)}.clamp(0, 6))")
    if shape == IMAGE:
        made += [kept] * 4 + [
            lambda d: quantized_image(module, e, d), lambda d: f"F.conv2d({x(shape, d)}, {module.parameter((4, 4, 3, 3))}, padding=1)", lambda d: f"F.interpolate(F.max_pool2d({x(shape, d)}, 2), size=[5, 5])"]
    elif len(shape) == 2 and r.random() < 0.3:
        made.append(lambda d: f"{x(IMAGE, d)}.mean([2, 3])[:, :2].reshape(-1)[:1].expand({shape_text(shape)}).clone()")
    if shape == SEQUENCE:
        made += [lambda d: f"{module.layer(r.choice(['nn.LSTM(4, 4)', 'nn.GRU(4, 4, batch_first=True)', 'nn.RNN(4, 4)', 'nn.LSTM(4, 2, bidirectional=True, batch_first=True)']))}({x(shape, d)})[0]",
                 lambda d: f"{module.layer('torch.nn.quantized.dynamic.LSTM(4, 4)')}({x(shape, d)})[0]", lambda d: f"{module.layer('nn.MultiheadAttention(4, 2)')}({x(shape, d)}, {x(shape, d)}, {x(shape, d)})[0]"] * 2
    elif len(shape) == 1 and r.random() < 0.3 and shape[0] <= 4:
        made.append(lambda d: f"{x(SEQUENCE, d)}[0, 0, :{shape[0]}]")
    return made


def linear(module, e, shape, d):
    """Adds a quantized linear layer: for integers, or for a float32 input that is quantized first."""
    r, n = e.r, shape[-1]
    source = e.expr(tensor("float32", shape), d)
    if r.random() < 0.5 and len(shape) >= 2:
        return f"{module.layer(f'nnqd.Linear({n}, {n})')}({source})"
    scale = r.choice(["0.1", "0.05", "0.25"])
    if len(shape) == 2 and r.random() < 0.6:
        return f"{module.layer(f'nnq.Linear({n}, {n})')}(torch.quantize_per_tensor({source}, {scale}, {r.choice(['0', '64', '128'])}, torch.quint8)).dequantize()"
    return f"torch.quantize_per_tensor({source}, {scale}, {r.choice(['0', '10'])}, torch.{r.choice(['quint8', 'qint8', 'qint32'])}).dequantize()"


def quantized_image(module, e, d):
    source = f"torch.quantize_per_tensor({e.expr(tensor('float32', IMAGE), d)}, 0.1, 64, torch.quint8)"
    if e.r.random() < 0.6:
        source = f"{module.layer(QUANTIZED['conv'])}({source})"
    return f"{e.r.choice(['{}', 'F.relu({})', 'F.max_pool2d({}, 3, 1, 1)', 'F.adaptive_avg_pool2d({}, [5, 5])']).format(source)}.dequantize()"
