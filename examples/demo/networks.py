"""The demo's two networks: a small MobileNetV2 classifier, and a DeepLabV3 segmenter whose backbone is similar to the classifier."""
from typing import Dict

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def conv_bn(c_in, c_out, kernel, stride=1, groups=1, dilation=1, act=True):
    layers = [nn.Conv2d(c_in, c_out, kernel, stride, (kernel - 1) // 2 * dilation,
                        dilation, groups, bias=False), nn.BatchNorm2d(c_out)]
    if act:
        layers.append(nn.ReLU6(inplace=True))
    return nn.Sequential(*layers)


class InvertedResidual(nn.Module):
    """MobileNetV2's block: widen (1x1), filter each channel (3x3), narrow (1x1, no activation)."""

    def __init__(self, c_in, c_out, stride, expand, dilation=1):
        super().__init__()
        hidden = c_in * expand
        layers = [conv_bn(c_in, hidden, 1)] if expand != 1 else []
        layers += [conv_bn(hidden, hidden, 3, stride, hidden, dilation),
                   conv_bn(hidden, c_out, 1, act=False)]
        self.conv = nn.Sequential(*layers)
        self.use_res_connect = stride == 1 and c_in == c_out

    def forward(self, x: Tensor) -> Tensor:
        if self.use_res_connect:
            return x + self.conv(x)
        return self.conv(x)


def backbone(stem, rows):
    """A convolution with stride 2, then inverted residual blocks: a row (expand, channels, repeats, stride,
    dilation) describes `repeats` of them."""
    layers, c_in = [conv_bn(3, stem, 3, 2)], stem
    for expand, channels, repeats, stride, dilation in rows:
        for i in range(repeats):
            layers.append(InvertedResidual(c_in, channels, stride if i == 0 else 1, expand, dilation))
            c_in = channels
    return nn.Sequential(*layers)


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = backbone(16, [(1, 12, 1, 1, 1), (4, 20, 2, 2, 1), (4, 32, 3, 2, 1),
                                      (4, 64, 3, 2, 1), (4, 80, 2, 1, 1)])
        self.features.append(conv_bn(80, 320, 1))
        self.classifier = nn.Sequential(nn.Dropout(0.1), nn.Linear(320, classes))

    def forward(self, x: Tensor) -> Tensor:
        x = self.features(x)
        x = F.adaptive_avg_pool2d(x, (1, 1))
        x = torch.flatten(x, 1)
        return self.classifier(x)


class ASPPPooling(nn.Module):
    """Computes the average of the picture, repeated over the whole map."""

    def __init__(self, c_in, c_out):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.conv = conv_bn(c_in, c_out, 1)

    def forward(self, x: Tensor) -> Tensor:
        size = x.shape[-2:]
        x = self.conv(self.pool(x))
        return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


class ASPP(nn.Module):
    """DeepLabV3's atrous spatial pyramid pooling: convolutions of one feature map, each with a different dilation."""

    def __init__(self, c_in, rates, c_out, c_project):
        super().__init__()
        branches = [conv_bn(c_in, c_out, 1)]
        branches += [conv_bn(c_in, c_out, 3, dilation=rate) for rate in rates]
        branches.append(ASPPPooling(c_in, c_out))
        self.convs = nn.ModuleList(branches)
        self.project = conv_bn(c_out * len(branches), c_project, 1)

    def forward(self, x: Tensor) -> Tensor:
        results = []
        for conv in self.convs:
            results.append(conv(x))
        return self.project(torch.cat(results, dim=1))


class Segmenter(nn.Module):
    """DeepLabV3 at output stride 8; forward returns {"out": [N, classes, H, W]} like torchvision."""

    def __init__(self, classes):
        super().__init__()
        self.backbone = backbone(16, [(1, 12, 1, 1, 1), (4, 20, 2, 2, 1), (4, 32, 3, 2, 1),
                                      (4, 48, 3, 1, 2), (4, 48, 1, 1, 4)])
        self.classifier = nn.Sequential(ASPP(48, (2, 4, 8), 48, 64), conv_bn(64, 64, 3),
                                        nn.Conv2d(64, classes, 1))

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        size = x.shape[-2:]
        out = self.classifier(self.backbone(x))
        out = F.interpolate(out, size=size, mode="bilinear", align_corners=False)
        return {"out": out}
