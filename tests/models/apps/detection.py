# SPDX-License-Identifier: BSD-2-Clause
"""Detectors with their post-processing inside the model: anchors, decoding, non-maximum suppression, results as dicts."""
import math
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision
from torch import Tensor

from case import Case, calls_of, images

Boxes = NamedTuple("Boxes", [("boxes", Tensor), ("scores", Tensor), ("count", int)])


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    return torch.ops.torchvision.nms(boxes, scores, threshold)


class Ssd(nn.Module):
    """Priors per level, center-size decoding, top-k and nms per class."""

    def __init__(self):
        super().__init__()
        self.extract = nn.ModuleList([nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU6()), nn.Sequential(nn.Conv2d(8, 8, 3, 2, 1), nn.ReLU6())])
        self.cls = nn.ModuleList([nn.Conv2d(8, 2 * 4, 3, padding=1) for _ in range(2)])
        self.reg = nn.ModuleList([nn.Conv2d(8, 2 * 4, 3, padding=1) for _ in range(2)])
        self.variance = (0.1, 0.2)

    def priors(self, h: int, w: int, level: int) -> Tensor:
        ys = (torch.arange(h, dtype=torch.float32) + 0.5) / h
        xs = (torch.arange(w, dtype=torch.float32) + 0.5) / w
        y, x = torch.meshgrid([ys, xs], indexing="ij")
        scale = 0.3 * (level + 1)
        rows: List[Tensor] = []
        for ratio in [1.0, 2.0]:
            rows.append(torch.stack([x, y, torch.full_like(x, scale * math.sqrt(ratio)), torch.full_like(x, scale / math.sqrt(ratio))], dim=-1))
        return torch.stack(rows, dim=2).view(-1, 4)

    def decode(self, loc: Tensor, priors: Tensor) -> Tensor:
        v0, v1 = self.variance
        boxes = torch.cat((priors[:, :2] + loc[:, :2] * v0 * priors[:, 2:], priors[:, 2:] * torch.exp(loc[:, 2:] * v1)), 1)
        boxes[:, :2] -= boxes[:, 2:] / 2
        boxes[:, 2:] += boxes[:, :2]
        return boxes

    def forward(self, x: Tensor, threshold: float = 0.3) -> List[Dict[str, Tensor]]:
        locs: List[Tensor] = []
        confs: List[Tensor] = []
        priors: List[Tensor] = []
        n = x.size(0)
        level = 0
        for e, c, r in zip(self.extract, self.cls, self.reg):
            x = e(x)
            confs.append(c(x).permute(0, 2, 3, 1).contiguous().view(n, -1, 4))
            locs.append(r(x).permute(0, 2, 3, 1).contiguous().view(n, -1, 4))
            priors.append(self.priors(x.size(2), x.size(3), level))
            level += 1
        conf, loc, prior = F.softmax(torch.cat(confs, 1), dim=-1), torch.cat(locs, 1), torch.cat(priors, 0)
        out: List[Dict[str, Tensor]] = []
        for i in range(n):
            boxes = self.decode(loc[i], prior).clamp(0, 1)
            all_boxes: List[Tensor] = []
            all_scores: List[Tensor] = []
            all_labels: List[Tensor] = []
            for k in range(1, 4):
                score = conf[i, :, k]
                keep = score > threshold
                score, kept = score[keep], boxes[keep]
                num = min(20, score.size(0))
                score, order = score.topk(num)
                kept = kept[order]
                index = nms(kept, score, 0.45)
                all_boxes.append(kept[index])
                all_scores.append(score[index])
                all_labels.append(torch.full_like(index, k))
            scores = torch.cat(all_scores)
            top = torch.argsort(scores, descending=True)[:10]
            out.append({"boxes": torch.cat(all_boxes)[top], "scores": scores[top], "labels": torch.cat(all_labels)[top]})
        return out


class Yolo(nn.Module):
    """YOLOv5's Detect layer: cached grids, which are recomputed when the size changes."""

    def __init__(self):
        super().__init__()
        self.na, self.no = 3, 7
        self.stride = [2.0, 4.0]
        self.grid: List[Tensor] = [torch.zeros(1), torch.zeros(1)]
        self.register_buffer("anchors", torch.tensor([[10.0, 13, 16, 30, 33, 23], [30, 61, 62, 45, 59, 119]]).view(2, 1, 3, 1, 1, 2))
        self.cv = nn.ModuleList([nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, 2, 1)])
        self.m = nn.ModuleList([nn.Conv2d(8, 21, 1) for _ in range(2)])

    def forward(self, x: Tensor) -> Tuple[Tensor, List[Tensor]]:
        z: List[Tensor] = []
        raw: List[Tensor] = []
        for i, (cv, m) in enumerate(zip(self.cv, self.m)):
            x = F.silu(cv(x), inplace=True)
            p = m(x)
            bs, _, ny, nx = p.shape
            p = p.view(bs, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
            raw.append(p)
            if self.grid[i].shape[2:4] != p.shape[2:4]:
                yv, xv = torch.meshgrid([torch.arange(ny), torch.arange(nx)], indexing="ij")
                self.grid[i] = torch.stack((xv, yv), 2).view((1, 1, ny, nx, 2)).float()
            y = p.sigmoid()
            y[..., 0:2] = (y[..., 0:2] * 2.0 - 0.5 + self.grid[i]) * self.stride[i]
            y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * self.anchors[i]
            z.append(y.view(bs, -1, self.no))
        return torch.cat(z, 1), raw


class YoloPost(nn.Module):
    """Boxes of every image after confidence, class offset trick and nms."""

    def forward(self, pred: Tensor, conf: float = 0.25, iou: float = 0.45, agnostic: bool = False,
                classes: Optional[List[int]] = None) -> List[Tensor]:
        out = [torch.zeros((0, 6))] * pred.shape[0]
        for xi in range(pred.shape[0]):
            x = pred[xi]
            x = x[x[:, 4] > conf]
            if x.shape[0] == 0:
                continue
            x = torch.cat([x[:, :5], x[:, 5:] * x[:, 4:5]], 1)
            box = x[:, :4].clone()
            box[:, 0] = x[:, 0] - x[:, 2] / 2
            box[:, 1] = x[:, 1] - x[:, 3] / 2
            box[:, 2] = x[:, 0] + x[:, 2] / 2
            box[:, 3] = x[:, 1] + x[:, 3] / 2
            best, j = x[:, 5:].max(1, keepdim=True)
            x = torch.cat((box, best, j.float()), 1)[best.view(-1) > conf]
            if classes is not None:
                x = x[(x[:, 5:6] == torch.tensor(classes)).any(1)]
            if x.shape[0] == 0:
                continue
            x = x[x[:, 4].argsort(descending=True)[:50]]
            c = x[:, 5:6] * (0.0 if agnostic else 4096.0)
            keep = torch.ops.torchvision.nms(x[:, :4] + c, x[:, 4], iou)
            out[xi] = x[keep]
        return out


class AnchorGenerator(nn.Module):
    def __init__(self):
        super().__init__()
        self.sizes: List[List[float]] = [[16.0, 32.0], [64.0]]
        self.cell: List[Tensor] = [self.generate(s) for s in self.sizes]

    def generate(self, sizes: List[float]) -> Tensor:
        scales = torch.as_tensor(sizes, dtype=torch.float32)
        ratios = torch.as_tensor([0.5, 1.0, 2.0])
        h = torch.sqrt(ratios)
        ws = ((1 / h)[:, None] * scales[None, :]).view(-1)
        hs = (h[:, None] * scales[None, :]).view(-1)
        return (torch.stack([-ws, -hs, ws, hs], dim=1) / 2).round()

    def forward(self, features: List[Tensor], image: List[int]) -> List[Tensor]:
        out: List[Tensor] = []
        for f, base in zip(features, self.cell):
            gh, gw = f.shape[-2:]
            sy, sx = image[0] // gh, image[1] // gw
            yy, xx = torch.meshgrid(torch.arange(0, gh, dtype=torch.int32) * sy, torch.arange(0, gw, dtype=torch.int32) * sx, indexing="ij")
            shifts = torch.stack((xx.reshape(-1), yy.reshape(-1), xx.reshape(-1), yy.reshape(-1)), dim=1)
            out.append((shifts.view(-1, 1, 4) + base.view(1, -1, 4)).reshape(-1, 4))
        return out


class Rcnn(nn.Module):
    """A detector of two stages: proposals, roi_align and a box head. It returns a named tuple."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, 4, 1), nn.ReLU())
        self.score, self.delta = nn.Conv2d(8, 6, 1), nn.Conv2d(8, 24, 1)
        self.anchors = AnchorGenerator()
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(8 * 9, 16), nn.ReLU())
        self.cls, self.box = nn.Linear(16, 3), nn.Linear(16, 4)
        self.clip = math.log(1000.0 / 16)

    def decode(self, rel: Tensor, boxes: Tensor) -> Tensor:
        w, h = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
        cx, cy = boxes[:, 0] + 0.5 * w, boxes[:, 1] + 0.5 * h
        dw, dh = torch.clamp(rel[:, 2::4], max=self.clip), torch.clamp(rel[:, 3::4], max=self.clip)
        px, py = rel[:, 0::4] * w[:, None] + cx[:, None], rel[:, 1::4] * h[:, None] + cy[:, None]
        pw, ph = torch.exp(dw) * w[:, None], torch.exp(dh) * h[:, None]
        return torch.stack((px - 0.5 * pw, py - 0.5 * ph, px + 0.5 * pw, py + 0.5 * ph), dim=2).flatten(1)

    def forward(self, x: Tensor) -> List[Boxes]:
        f = self.backbone(x)
        objectness = self.score(f)
        deltas = self.delta(f)
        n = f.size(0)
        boxes = self.anchors([f], [x.size(2), x.size(3)])[0]
        out: List[Boxes] = []
        for i in range(n):
            s = objectness[i].permute(1, 2, 0).reshape(-1)
            d = deltas[i].view(6, 4, f.size(2), f.size(3)).permute(2, 3, 0, 1).reshape(-1, 4)
            p = self.decode(d, boxes)
            p = torch.stack((p[:, 0::2].clamp(0, float(x.size(3))), p[:, 1::2].clamp(0, float(x.size(2)))), dim=2).flatten(1)
            p = p[:, [0, 2, 1, 3]]
            top = s.topk(min(30, s.numel()))[1]
            p, s = p[top], torch.sigmoid(s[top])
            wide = torch.where((p[:, 2] - p[:, 0] >= 1) & (p[:, 3] - p[:, 1] >= 1))[0]
            p, s = p[wide], s[wide]
            keep = nms(p, s, 0.7)[:8]
            p = p[keep]
            rois = torch.cat([torch.full((p.size(0), 1), float(i)), p], 1)
            pooled = torch.ops.torchvision.roi_align(f, rois, 0.25, 3, 3, 2, False)
            h = self.head(pooled)
            scores = F.softmax(self.cls(h), -1)
            out.append(Boxes(self.decode(self.box(h), p), scores[:, 1], int(p.size(0))))
        return out


class Keypoints(nn.Module):
    """Computes coordinates from heat maps; visibility is returned as bools."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 3, 2, 1)
        self.up = nn.ConvTranspose2d(5, 5, 4, 2, 1, groups=5)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        heat = self.up(F.relu(self.conv(x)))
        n, k, h, w = heat.shape
        value, index = heat.view(n, k, -1).max(2)
        coords = torch.stack([index % w, torch.div(index, w, rounding_mode="floor")], -1)
        offset = torch.gather(heat.flatten(2), 2, index.unsqueeze(-1)).squeeze(-1)
        grid = F.affine_grid(torch.eye(2, 3).unsqueeze(0).expand(n, 2, 3) * 0.9, [n, 1, 4, 5], align_corners=False)
        crop = F.grid_sample(heat, grid, mode="bilinear", padding_mode="border", align_corners=False)
        return {"coords": coords, "scores": value, "visible": value > 0.5, "offset": offset, "crop": crop}


class Faces(nn.Module):
    """A cascade of networks that stops early if nothing is found."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 3, 3)
        self.second = nn.Linear(9, 2)

    def forward(self, image: Tensor, threshold: float = 0.5) -> Tuple[Tensor, int, str]:
        heat = torch.sigmoid(self.first(image))[0, 0]
        where = (heat > threshold).nonzero()
        if where.size(0) == 0:
            return torch.zeros(0, 2), 0, "nothing"
        patches: List[Tensor] = []
        count = 0
        for row in where:
            if count >= 5:
                break
            y, x = int(row[0]), int(row[1])
            patches.append(image[0, 0, y:y + 3, x:x + 3].reshape(-1))
            count += 1
        return self.second(torch.stack(patches)).softmax(1), where.size(0), "found {} of {}".format(count, where.size(0))


def predictions(n, count):
    g = torch.Generator().manual_seed(n * 100 + count)
    p = torch.rand(n, count, 8, generator=g)
    p[..., :2] *= 40
    p[..., 2:4] = p[..., 2:4] * 20 + 4
    return p


POST = [("forward", (predictions(2, 40),)), ("forward", (predictions(1, 25), 0.1, 0.6, True)), ("forward", (predictions(2, 40) * 0.9, 0.05)),
        ("forward", (predictions(2, 40), 0.1, 0.45, False, [0, 2])), ("forward", (predictions(3, 9) * 0.01,))]

CASES = [
    Case("ssd", Ssd, calls_of((torch.randn(1, 3, 16, 16), 0.27), (torch.randn(2, 3, 12, 20),)), no_schema=False),
    Case("yolo", Yolo, images((1, 3, 16, 16), (2, 3, 8, 24)), mobile=False),
    Case("yolo_post", YoloPost, POST, no_schema=False),
    Case("rcnn", Rcnn, images((1, 3, 64, 64), (2, 3, 48, 96)), mobile=False),
    Case("keypoints", Keypoints, images((1, 3, 16, 16), (2, 3, 12, 20))),
    Case("faces", Faces, calls_of((torch.randn(1, 1, 8, 8), 0.5), (torch.randn(1, 1, 6, 9), 0.999999))),
]
