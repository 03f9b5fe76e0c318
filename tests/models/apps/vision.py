# SPDX-License-Identifier: BSD-2-Clause
"""Image models like those of public apps: classifiers, segmentation, depth, style transfer, super-resolution, video,
windowed attention, optical flow, a generator."""
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from case import Case, calls_of, images, stir


def conv_bn(inp, out, k=3, stride=1, groups=1, act=nn.ReLU, dilation=1):
    return nn.Sequential(nn.Conv2d(inp, out, k, stride, dilation * (k // 2), dilation, groups, bias=False), nn.BatchNorm2d(out), act())


class SqueezeExcite(nn.Module):
    def __init__(self, c, r=2):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1, self.fc2 = nn.Conv2d(c, c // r, 1), nn.Conv2d(c // r, c, 1)

    def forward(self, x):
        s = F.hardsigmoid(self.fc2(F.relu(self.fc1(self.avgpool(x)))), inplace=True)
        return s * x


class InvertedResidual(nn.Module):
    def __init__(self, inp, out, stride, expand, act, se):
        super().__init__()
        self.use_res = stride == 1 and inp == out
        layers = [conv_bn(inp, inp * expand, 1, act=act), conv_bn(inp * expand, inp * expand, 3, stride, inp * expand, act)]
        if se:
            layers.append(SqueezeExcite(inp * expand))
        layers += [nn.Conv2d(inp * expand, out, 1, bias=False), nn.BatchNorm2d(out)]
        self.conv = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        if self.use_res:
            return x + self.conv(x)
        return self.conv(x)


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(conv_bn(3, 8, 3, 2, act=nn.Hardswish), InvertedResidual(8, 8, 1, 2, nn.ReLU6, False),
                                      InvertedResidual(8, 12, 2, 3, nn.Hardswish, True), InvertedResidual(12, 12, 1, 2, nn.SiLU, True))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(12, 10))

    def forward(self, x: Tensor) -> Tensor:
        x = self.features(x)
        x = F.adaptive_avg_pool2d(x, (1, 1))
        x = torch.flatten(x, 1)
        return self.classifier(x)


class BasicBlock(nn.Module):
    def __init__(self, inp, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inp, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = nn.Sequential(nn.Conv2d(inp, out, 1, stride, bias=False), nn.BatchNorm2d(out)) if stride != 1 else None

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        self.layer1 = nn.Sequential(BasicBlock(8, 8, 1), BasicBlock(8, 8, 1))
        self.layer2 = nn.Sequential(BasicBlock(8, 16, 2), BasicBlock(16, 16, 1))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(16, 7)

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x)))
        return F.log_softmax(self.fc(torch.flatten(self.avgpool(x), 1)), dim=1)


class ShuffleUnit(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.branch2 = nn.Sequential(conv_bn(c // 2, c // 2, 1), nn.Conv2d(c // 2, c // 2, 3, 1, 1, groups=c // 2, bias=False),
                                     nn.BatchNorm2d(c // 2), conv_bn(c // 2, c // 2, 1))

    def forward(self, x):
        x1, x2 = x.chunk(2, dim=1)
        out = torch.cat((x1, self.branch2(x2)), dim=1)
        b, c, h, w = out.size()
        return out.view(b, 2, c // 2, h, w).transpose(1, 2).contiguous().view(b, -1, h, w)


class ShuffleNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = conv_bn(3, 8, 3, 2)
        self.units = nn.ModuleList([ShuffleUnit(8) for _ in range(3)])

    def forward(self, x):
        x = self.first(x)
        for unit in self.units:
            x = unit(x)
        return x.mean([2, 3])


class Vgg(nn.Module):
    """Pools inputs of any size to 7x7, like the torchvision classifiers."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.PReLU(8), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1),
                                      nn.LeakyReLU(0.1, inplace=True), nn.MaxPool2d(2, ceil_mode=True))
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(nn.Linear(8 * 49, 16), nn.ReLU(True), nn.Dropout(), nn.Linear(16, 5))

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1)).softmax(1)


class Activations(nn.Module):
    def __init__(self):
        super().__init__()
        self.acts = nn.ModuleDict({"elu": nn.ELU(0.7), "selu": nn.SELU(), "celu": nn.CELU(0.5), "gelu": nn.GELU(), "mish": nn.Mish(),
                                   "softplus": nn.Softplus(2.0, 3.0), "sign": nn.Softsign(), "shrink": nn.Softshrink(0.3),
                                   "hard": nn.Hardshrink(), "tanhs": nn.Tanhshrink(), "log": nn.LogSigmoid(), "thr": nn.Threshold(0.1, -2.0),
                                   "hardtanh": nn.Hardtanh(-0.5, 0.75), "hsig": nn.Hardsigmoid(), "hsw": nn.Hardswish(), "silu": nn.SiLU(),
                                   "relu6": nn.ReLU6(), "rrelu": nn.RReLU(), "glu": nn.GLU(1)})
        self.convs = nn.ModuleList([nn.Conv2d(4, 4, 3, padding=1, bias=i % 2 == 0) for i in range(19)])

    def forward(self, x) -> Dict[str, Tensor]:
        out: Dict[str, Tensor] = {}
        for (name, act), conv in zip(self.acts.items(), self.convs):
            out[name] = act(conv(x))
        return out


class ConvKinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.grouped = nn.Conv2d(6, 12, 3, groups=3)
        self.dilated = nn.Conv2d(12, 8, (3, 5), padding=(2, 4), dilation=2, bias=False)
        self.multiplier = nn.Conv2d(8, 16, 5, 2, 2, groups=8)
        self.up = nn.ConvTranspose2d(16, 8, 3, 2, 1, output_padding=1)
        self.up_grouped = nn.ConvTranspose2d(8, 8, 2, 2, groups=4, bias=False)
        self.same = nn.Conv2d(8, 4, (2, 3), padding="same")
        self.reflect = nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect")
        self.circular = nn.Conv2d(4, 4, 3, padding=(1, 2), padding_mode="circular")

    def forward(self, x) -> List[Tensor]:
        a = self.grouped(x)
        b = self.dilated(a)
        c = self.up(self.multiplier(b))
        d = self.same(F.relu(self.up_grouped(c)))
        return [a, b, c, d, self.reflect(d), self.circular(d)]


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([conv_bn(3, 8), conv_bn(8, 16), conv_bn(16, 16)])
        self.up = nn.ModuleList([conv_bn(32, 8), conv_bn(16, 8)])
        self.ups = nn.ModuleList([nn.Upsample(scale_factor=2.0, mode="nearest"), nn.Upsample(scale_factor=2.0, mode="bilinear", align_corners=True)])
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        skips: List[Tensor] = []
        for i, layer in enumerate(self.down):
            x = layer(x)
            if i < 2:
                skips.append(x)
                x = F.max_pool2d(x, 2)
        for layer, up in zip(self.up, self.ups):
            skip = skips.pop()
            x = layer(torch.cat([F.interpolate(up(x), size=skip.shape[2:]), skip], 1))
        return torch.sigmoid(self.head(x))


class Aspp(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = conv_bn(3, 8, 3, 2)
        self.branches = nn.ModuleList([conv_bn(8, 6, 1), conv_bn(8, 6, dilation=2), conv_bn(8, 6, dilation=4)])
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 6, 1, bias=False), nn.ReLU())
        self.project = nn.Sequential(conv_bn(24, 8, 1), nn.Dropout(0.1))
        self.classifier = nn.Conv2d(8, 21, 1)

    def forward(self, x) -> Dict[str, Tensor]:
        size = x.shape[-2:]
        f = self.backbone(x)
        res: List[Tensor] = []
        for b in self.branches:
            res.append(b(f))
        res.append(F.interpolate(self.pool(f), size=f.shape[-2:], mode="bilinear", align_corners=False))
        y = self.classifier(self.project(torch.cat(res, dim=1)))
        return {"out": F.interpolate(y, size=size, mode="bilinear", align_corners=False), "classes": y.argmax(1)}


class Fpn(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.ModuleList([conv_bn(3, 8, 3, 2), conv_bn(8, 12, 3, 2), conv_bn(12, 16, 3, 2)])
        self.inner = nn.ModuleList([nn.Conv2d(c, 8, 1) for c in (8, 12, 16)])
        self.layer = nn.ModuleList([nn.Conv2d(8, 8, 3, padding=1) for _ in range(3)])

    def forward(self, x) -> Dict[str, Tensor]:
        feats: List[Tensor] = []
        for c in self.c:
            x = c(x)
            feats.append(x)
        inner: List[Tensor] = []
        for i, m in enumerate(self.inner):
            inner.append(m(feats[i]))
        last = inner[-1]
        for i in range(len(inner) - 2, -1, -1):
            last = inner[i] + F.interpolate(last, size=inner[i].shape[-2:], mode="nearest")
            inner[i] = last
        out: Dict[str, Tensor] = {}
        for i, m in enumerate(self.layer):
            out["p" + str(i + 2)] = m(inner[i])
        out["pool"] = F.max_pool2d(out["p4"], 1, 2, 0)
        return out


class Depth(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(conv_bn(3, 8, 3, 2, act=lambda: nn.ELU(inplace=True)), conv_bn(8, 8, 3, 2))
        self.pad = nn.ReflectionPad2d(1)
        self.dec = nn.Conv2d(8, 1, 3)

    def forward(self, x) -> Tuple[Tensor, Tensor]:
        y = F.interpolate(self.enc((x - 0.45) / 0.225), scale_factor=2.0, mode="nearest")
        disp = torch.sigmoid(self.dec(self.pad(y)))
        depth = 1 / (0.01 + 9.99 * disp)
        return disp, depth.clamp(min=0.1, max=100.0).squeeze(1)


class Style(nn.Module):
    def __init__(self):
        super().__init__()
        self.pad = nn.ReflectionPad2d(2)
        self.conv = nn.Conv2d(3, 8, 5)
        self.norm = nn.InstanceNorm2d(8, affine=True)
        self.res = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(8, 8, 3, 2), nn.InstanceNorm2d(8), nn.ReLU())
        self.out = nn.Conv2d(8, 3, 3, padding=1, padding_mode="replicate")

    def forward(self, x):
        y = F.relu(self.norm(self.conv(self.pad(x))))
        y = F.interpolate(self.res(y), scale_factor=2.0, mode="nearest")
        return (torch.tanh(self.out(y)) * 127.5 + 127.5).round().to(torch.uint8).permute(0, 2, 3, 1)


class SuperResolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = nn.Conv2d(1, 16, 5, 1, 2), nn.Conv2d(16, 8, 3, 1, 1), nn.Conv2d(8, 9, 3, 1, 1)
        self.shuffle = nn.PixelShuffle(3)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        y = self.shuffle(self.conv3(x))
        return y, F.pixel_unshuffle(y, 3)


class ChannelsLast(nn.Module):
    """A network whose tensors change between channels-last and contiguous strides."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 1)

    def forward(self, x) -> List[Tensor]:
        x = x.contiguous(memory_format=torch.channels_last)
        a = self.a(x)
        b = self.b(a).relu_()
        c = b.permute(0, 2, 3, 1)
        d = c.reshape(c.size(0), -1)
        e = self.b(a.transpose(2, 3))
        f = b.contiguous()
        return [a, b, c, d, e, f, e[:, ::2], b.select(1, 1), F.avg_pool2d(b, 2), b + f, torch.cat([b, e.transpose(2, 3)], 1)]


class Video(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv3d(3, 6, (1, 3, 3), (1, 2, 2), (0, 1, 1), bias=False), nn.BatchNorm3d(6), nn.ReLU(True))
        self.temporal = nn.Conv3d(6, 6, (3, 1, 1), padding=(1, 0, 0), groups=2)
        self.pool = nn.MaxPool3d((1, 2, 2))
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        x = self.stem(x)
        x = x + self.temporal(x)
        y = self.pool(x)
        z = F.adaptive_avg_pool3d(y, 1).flatten(1)
        return self.fc(z), F.avg_pool3d(y, (2, 1, 1)), x.mean(dim=2)


class Clip(nn.Module):
    """Takes frames as a list: 2D features, pooled over time."""

    def __init__(self):
        super().__init__()
        self.net = conv_bn(3, 4, 3, 2)

    def forward(self, frames: List[Tensor]) -> Tuple[Tensor, int]:
        feats = torch.stack([self.net(f).mean([2, 3]) for f in frames], dim=1)
        w = torch.softmax(feats.norm(2.0, [2], True), dim=1)
        best = int((w.squeeze(2)[0]).argmax())
        return (feats * w).sum(1), best


class PatchTransformer(nn.Module):
    """A vision transformer from basic operators."""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, 4, 4)
        self.cls = nn.Parameter(torch.randn(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, 17, dim) * 0.1)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim, eps=1e-6)
        self.qkv, self.proj = nn.Linear(dim, dim * 3, bias=False), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim * 2), nn.GELU(), nn.Linear(dim * 2, dim))
        self.heads = heads

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), x], 1)
        x = x + self.pos[:, :x.size(1)]
        b, n, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        a = ((q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5).softmax(dim=-1)
        x = x + self.proj((a @ v).transpose(1, 2).reshape(b, n, c))
        x = x + self.mlp(self.norm2(x))
        return x[:, 0]


class Camera(nn.Module):
    """Takes a uint8 HWC frame, resizes and normalizes it; returns classes and a mask."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1))
        self.net = stir(nn.Sequential(conv_bn(3, 6, 3, 2), nn.Conv2d(6, 4, 1)))

    def forward(self, frame: Tensor, size: int = 16) -> Tuple[Tensor, Tensor, float]:
        x = frame.permute(2, 0, 1).unsqueeze(0).float().div_(255)
        x = F.interpolate(x, (size, size), mode="bilinear", align_corners=False)
        x = x.sub(self.mean).div(self.std)
        y = self.net(x)
        p = torch.softmax(y.mean((2, 3)), 1)
        score, label = p.max(1)
        return label, (y.argmax(1) > 0), float(score.item())


def frames(h, w):
    return torch.randint(0, 256, (h, w, 3), dtype=torch.uint8)


class WindowAttention(nn.Module):
    """Swin's attention within windows: a bias by relative position, and a mask for windows that wrap around."""

    def __init__(self, dim, window, heads):
        super().__init__()
        self.window, self.heads, self.scale = window, heads, (dim // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads))
        at = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        apart = (at[:, :, None] - at[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("index", (apart[..., 0] * (2 * window - 1) + apart[..., 1]).flatten())

    def forward(self, x: Tensor, mask: Optional[Tensor]) -> Tensor:
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        a = (q * self.scale) @ k.transpose(-2, -1)
        a = a + self.table[self.index].view(n, n, -1).permute(2, 0, 1).contiguous().unsqueeze(0)
        if mask is not None:
            windows = mask.shape[0]
            a = (a.view(b // windows, windows, self.heads, n, n) + mask.unsqueeze(1).unsqueeze(0)).view(-1, self.heads, n, n)
        return self.proj((a.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))


class SwinBlock(nn.Module):
    def __init__(self, dim, window, shift, heads):
        super().__init__()
        self.window, self.shift = window, shift
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, window, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, dim * 2), nn.GELU(), nn.Linear(dim * 2, dim))

    def split(self, x: Tensor) -> Tensor:
        b, h, w, c = x.shape
        s = self.window
        return x.view(b, h // s, s, w // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)

    def forward(self, x: Tensor) -> Tensor:
        b, h, w, c = x.shape
        s = self.window
        y = F.pad(self.norm1(x), (0, 0, 0, (s - w % s) % s, 0, (s - h % s) % s))
        _, ph, pw, _ = y.shape
        mask: Optional[Tensor] = None
        if self.shift > 0:
            y = torch.roll(y, shifts=(-self.shift, -self.shift), dims=(1, 2))
            part = torch.zeros(1, ph, pw, 1)
            count = 0
            for a in [(0, -s), (-s, -self.shift), (-self.shift, ph)]:
                for d in [(0, -s), (-s, -self.shift), (-self.shift, pw)]:
                    part[:, a[0]:a[1], d[0]:d[1], :] = count
                    count += 1
            rows = self.split(part).squeeze(-1)
            apart = rows.unsqueeze(1) - rows.unsqueeze(2)
            mask = apart.masked_fill(apart != 0, -100.0).masked_fill(apart == 0, 0.0)
        y = self.attn(self.split(y), mask)
        y = y.view(b, ph // s, pw // s, s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(b, ph, pw, c)
        if self.shift > 0:
            y = torch.roll(y, shifts=(self.shift, self.shift), dims=(1, 2))
        x = x + y[:, :h, :w]
        return x + self.mlp(self.norm2(x))


class Swin(nn.Module):
    """Two blocks, the second one with shifted windows, and merging of patches."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 2, 2)
        self.blocks = nn.Sequential(SwinBlock(8, 4, 0, 2), SwinBlock(8, 4, 2, 2))
        self.norm, self.reduce = nn.LayerNorm(32), nn.Linear(32, 12, bias=False)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        x = self.blocks(self.patch(x).permute(0, 2, 3, 1))
        x = F.pad(x, (0, 0, 0, x.size(2) % 2, 0, x.size(1) % 2))
        y = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
        y = self.reduce(self.norm(y))
        return y, y.flatten(1, 2).mean(1)


class OpticalFlow(nn.Module):
    """Optical flow of two frames: a cost volume from shifts, flow from coarse to fine, the second frame warped."""

    def __init__(self):
        super().__init__()
        self.feature = nn.Sequential(nn.Conv2d(3, 6, 3, 2, 1), nn.LeakyReLU(0.1), nn.Conv2d(6, 6, 3, 1, 1))
        self.flow = nn.Sequential(nn.Conv2d(9 + 6 + 2, 8, 3, padding=1), nn.LeakyReLU(0.1), nn.Conv2d(8, 2, 3, padding=1))

    def warp(self, x: Tensor, flow: Tensor) -> Tensor:
        n, _, h, w = x.shape
        ys, xs = torch.meshgrid(torch.arange(h, dtype=x.dtype), torch.arange(w, dtype=x.dtype), indexing="ij")
        gx = 2.0 * (xs + flow[:, 0]) / max(w - 1, 1) - 1.0
        gy = 2.0 * (ys + flow[:, 1]) / max(h - 1, 1) - 1.0
        return F.grid_sample(x, torch.stack([gx, gy], dim=-1), mode="bilinear", padding_mode="zeros", align_corners=True)

    def forward(self, a: Tensor, b: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        fa, fb = self.feature(a), self.feature(b)
        flow = torch.zeros(fa.size(0), 2, fa.size(2), fa.size(3))
        for step in range(2):
            moved = F.pad(self.warp(fb, flow), [1, 1, 1, 1])
            costs: List[Tensor] = []
            for i in range(3):
                for j in range(3):
                    costs.append((fa * moved[:, :, i:i + fa.size(2), j:j + fa.size(3)]).mean(1, keepdim=True))
            flow = flow + self.flow(torch.cat([F.leaky_relu(torch.cat(costs, 1), 0.1), fa, flow], 1)) * 0.25
        full = F.interpolate(flow, size=a.shape[2:], mode="bilinear", align_corners=True) * 2
        back = self.warp(b, full)
        seen = self.warp(torch.ones_like(b[:, :1]), full) > 0.999
        return full, torch.where(seen, back, a), (back - a).abs().mean((1, 2, 3))


class Generator(nn.Module):
    """The generator of a GAN: makes a picture from noise and a class, with StyleGAN's modulated convolutions."""

    def __init__(self):
        super().__init__()
        self.label = nn.Embedding(5, 6)
        self.first = nn.ConvTranspose2d(14, 12, 4, 1, 0, bias=False)
        self.rest = nn.Sequential(nn.BatchNorm2d(12), nn.ReLU(True), nn.ConvTranspose2d(12, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8),
                                  nn.ReLU(True), nn.ConvTranspose2d(8, 6, 3, 2, 1, output_padding=1, groups=2))
        self.style, self.weight = nn.Linear(6, 6), nn.Parameter(torch.randn(1, 4, 6, 3, 3))
        self.out = nn.utils.spectral_norm(nn.Conv2d(4, 3, 1)).eval()
        nn.utils.remove_spectral_norm(self.out)

    def forward(self, z: Tensor, label: Tensor) -> Tensor:
        n = z.size(0)
        e = self.label(label)
        x = self.rest(self.first(torch.cat([z, e], 1)[:, :, None, None]))
        w = self.weight * (self.style(e).view(n, 1, 6, 1, 1) + 1)
        w = w * torch.rsqrt(w.pow(2).sum([2, 3, 4], keepdim=True) + 1e-8)
        x = F.conv2d(x.reshape(1, -1, x.size(2), x.size(3)), w.view(n * 4, 6, 3, 3), padding=1, groups=n).view(n, 4, x.size(2), x.size(3))
        return torch.tanh(self.out(F.leaky_relu(x, 0.2) * 2 ** 0.5))


CASES = [
    Case("mobilenet", MobileNet, images((1, 3, 32, 32), (2, 3, 24, 40)), trace=True),
    Case("resnet", ResNet, images((1, 3, 32, 32), (3, 3, 33, 29)), trace=True),
    Case("shufflenet", ShuffleNet, images((1, 3, 16, 16), (2, 3, 20, 12)), trace=True),
    Case("vgg", Vgg, images((1, 3, 28, 28), (2, 3, 36, 50)), trace=True),
    Case("activations", Activations, images((1, 4, 6, 6), (2, 4, 5, 7))),
    Case("conv_kinds", ConvKinds, images((1, 6, 12, 12), (2, 6, 15, 13)), trace=True),
    Case("unet", UNet, images((1, 3, 16, 16), (1, 3, 22, 18)), trace=True),
    Case("aspp", Aspp, images((1, 3, 24, 24), (2, 3, 17, 19))),
    Case("fpn", Fpn, images((1, 3, 32, 32), (2, 3, 40, 24))),
    Case("depth", Depth, images((1, 3, 16, 24), (2, 3, 24, 16)), trace=True),
    Case("style", Style, images((1, 3, 12, 12), (1, 3, 14, 18)), trace=True, loose_bytes=True),
    Case("super_resolution", SuperResolution, images((1, 1, 8, 8), (2, 1, 6, 10)), trace=True),
    Case("channels_last", ChannelsLast, images((1, 3, 6, 8), (2, 3, 8, 4))),
    Case("video", Video, images((1, 3, 4, 8, 8), (2, 3, 6, 10, 12)), trace=True),
    Case("clip", Clip, calls_of(([torch.randn(1, 3, 8, 8) for _ in range(3)],), ([torch.randn(2, 3, 6, 10) for _ in range(2)],))),
    Case("patch_transformer", PatchTransformer, images((1, 3, 16, 16), (2, 3, 16, 16)), trace=True),
    Case("camera", Camera, calls_of((frames(20, 30),), (frames(16, 16), 24)), no_schema=False),
    Case("swin", Swin, images((1, 3, 16, 16), (2, 3, 20, 14))),
    Case("optical_flow", OpticalFlow, calls_of((torch.randn(1, 3, 12, 16), torch.randn(1, 3, 12, 16)), (torch.randn(2, 3, 16, 10), torch.randn(2, 3, 16, 10)))),
    Case("generator", Generator, calls_of((torch.randn(2, 8), torch.tensor([1, 4])), (torch.randn(1, 8), torch.tensor([0])))),
]
