# SPDX-License-Identifier: BSD-2-Clause
# Caffe2's detection operators, which the installed PyTorch may lack. This file registers their schemas with implementations in NumPy that follow the
# operators' descriptions, so that the cases run like the cases of other files. These implementations are compared with small results computed by
# hand, and with torchvision's roi_align and nms in cases in which these are equal.
import math

import numpy as np
import torch
import torchvision  # noqa: F401  registers roi_align and nms

CASES = []
F = np.float32
LONGEST = math.log(1000.0 / 16.0)


# ---- boxes

def moved(boxes, deltas, weights, plus, bound, low, high):
    """Returns the boxes that the deltas make; boxes of 5 columns are rotated."""
    boxes, deltas = boxes.astype(F), deltas.astype(F)
    dx, dy = deltas[:, 0] / F(weights[0]), deltas[:, 1] / F(weights[1])
    grow = [np.exp(np.minimum(deltas[:, i] / F(weights[i]), F(LONGEST))) for i in (2, 3)]
    if boxes.shape[1] == 5:
        angle = boxes[:, 4] + deltas[:, 4] * F(180) / F(math.pi)
        if bound:
            assert high > low and (high - low) % 180 == 0
            angle = np.where(angle < low, angle + F(high - low), np.where(angle > high, angle - F(high - low), angle))
        return np.stack([dx * boxes[:, 2] + boxes[:, 0], dy * boxes[:, 3] + boxes[:, 1], grow[0] * boxes[:, 2],
                         grow[1] * boxes[:, 3], angle], 1).astype(F)
    size = [boxes[:, 2] - boxes[:, 0] + plus, boxes[:, 3] - boxes[:, 1] + plus]
    middle = [boxes[:, 0] + size[0] / 2 + dx * size[0], boxes[:, 1] + size[1] / 2 + dy * size[1]]
    half = [grow[0] * size[0] / 2, grow[1] * size[1] / 2]
    return np.stack([middle[0] - half[0], middle[1] - half[1], middle[0] + half[0] - plus, middle[1] + half[1] - plus], 1).astype(F)


def clipped(boxes, high, wide, angle, plus):
    if boxes.shape[1] == 4:
        return np.clip(boxes, 0, np.array([wide, high, wide, high], F) - F(plus)).astype(F)
    out = boxes.copy()
    upright = np.abs(boxes[:, 4]) <= angle
    half = (boxes[upright, 2:4] - plus) / 2
    corners = clipped(np.concatenate([boxes[upright, :2] - half, boxes[upright, :2] + half], 1), high, wide, angle, plus)
    out[upright, :2] = (corners[:, :2] + corners[:, 2:]) / 2
    out[upright, 2:4] = corners[:, 2:] - corners[:, :2] + plus
    return out


def polygon(box):
    """Returns the corners of a rotated box. The image's y axis points down, so the sign of a counter-clockwise angle is reversed."""
    angle = -math.radians(box[4])
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    return np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * box[2:4] / 2 @ turn.T + box[:2]


def inside(corners, p):
    a, b = corners[1] - corners[0], corners[3] - corners[0]
    return -1e-9 <= (p - corners[0]) @ a <= a @ a + 1e-9 and -1e-9 <= (p - corners[0]) @ b <= b @ b + 1e-9


def shared(a, b):
    """Returns the area of the intersection of two rotated boxes: the hull of the corners inside the other box and of the crossings of sides."""
    pa, pb = polygon(a.astype(float)), polygon(b.astype(float))
    points = [p for p in pa if inside(pb, p)] + [p for p in pb if inside(pa, p)]
    for i in range(4):
        for j in range(4):
            d, e, f = pa[(i + 1) % 4] - pa[i], pb[(j + 1) % 4] - pb[j], pb[j] - pa[i]
            cross = d[0] * e[1] - d[1] * e[0]
            if abs(cross) > 1e-12:
                s, t = (f[0] * e[1] - f[1] * e[0]) / cross, (f[0] * d[1] - f[1] * d[0]) / cross
                if 0 <= s <= 1 and 0 <= t <= 1:
                    points.append(pa[i] + s * d)
    if len(points) < 3:
        return 0.0
    points = np.array(points)
    away = points - points.mean(0)
    points = points[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]
    x, y = points.T
    return abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def overlaps(box, others, plus):
    if len(box) == 5:
        common = np.array([shared(box, o) for o in others], F)
        area = box[2] * box[3] + others[:, 2] * others[:, 3]
    else:
        low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
        common = np.prod(np.maximum(high - low + plus, 0), axis=1)
        area = np.prod(box[2:] - box[:2] + plus) + np.prod(others[:, 2:] - others[:, :2] + plus, axis=1)
    with np.errstate(all="ignore"):
        return common / (area - common)


def suppressed(boxes, order, threshold, plus, most):
    """Returns indices of `order`, without the boxes that overlap an earlier kept box by more than the threshold."""
    kept, order = [], list(order)
    while order and (most <= 0 or len(kept) < most):
        first, order = order[0], order[1:]
        kept.append(first)
        if order:
            order = [i for i, o in zip(order, overlaps(boxes[first], boxes[order], plus)) if o <= threshold]
    return kept


assert suppressed(np.array([[0, 0, 9, 9], [1, 1, 10, 10], [20, 20, 29, 29]], F), [0, 1, 2], 0.5, 1, -1) == [0, 2]  # intersection over union of the first two boxes is 81 / 119
assert abs(shared(np.array([5, 5, 4, 4, 0.0]), np.array([5, 5, 4, 4, 45.0])) - 13.2548) < 1e-3  # the intersection is an octagon of area 32 (√2 − 1)
assert abs(shared(np.array([0, 0, 4, 2, 90.0]), np.array([0, 0, 4, 2, 0.0])) - 4) < 1e-9


# ---- the operators

def made(array):
    """Returns a tensor with the strides of a new tensor. An empty array of NumPy may have other strides."""
    array = torch.from_numpy(array)
    return torch.empty(array.shape, dtype=array.dtype).copy_(array)


def proposals(scores, deltas, info, anchors, scale, before, after, threshold, least, bound, low, high, angle, legacy, _=None):
    scores, deltas, info, anchors = (t.numpy() for t in (scores, deltas, info, anchors))
    images, count, tall, wide = scores.shape
    columns, plus, rows, chances = anchors.shape[1], int(legacy), [np.zeros((0, anchors.shape[1] + 1))], [np.zeros(0)]
    assert columns in (4, 5) and anchors.shape[0] == count and deltas.shape == (images, count * columns, tall, wide)
    assert info.shape == (images, 3)
    y, x = np.meshgrid(np.arange(tall), np.arange(wide), indexing="ij")
    shift = np.zeros((1, tall, wide, columns), F)
    shift[0, ..., 0], shift[0, ..., 1] = x / scale, y / scale
    if columns == 4:
        shift[0, ..., 2], shift[0, ..., 3] = x / scale, y / scale
    everywhere = (anchors[:, None, None, :] + shift).reshape(-1, columns).astype(F)
    for i in range(images):
        order = np.argsort(-scores[i].ravel(), kind="stable")
        order = order[:before] if before > 0 else order
        delta = deltas[i].reshape(count, columns, tall, wide).transpose(0, 2, 3, 1).reshape(-1, columns)[order]
        box = moved(everywhere[order], delta, [1, 1, 1, 1], plus, bound, low, high)
        box = clipped(box, int(info[i, 0]), int(info[i, 1]), angle, plus)
        if columns == 4:
            side, middle = box[:, 2:] - box[:, :2] + plus, (box[:, :2] + (box[:, 2:] - box[:, :2] + plus) / 2)
        else:
            side, middle = box[:, 2:4], box[:, :2]
        good = np.nonzero((side >= F(least * info[i, 2])).all(1) & (middle < info[i, 1::-1]).all(1))[0]
        kept = suppressed(box, good, threshold, plus, after)
        rows.append(np.concatenate([np.full((len(kept), 1), i, F), box[kept].reshape(-1, columns)], 1))
        chances.append(scores[i].ravel()[order][kept])
    return made(np.concatenate(rows).astype(F)), made(np.concatenate(chances).astype(F))


def roi_align(features, rois, order, scale, high, wide, ratio, aligned, _=None):
    assert order in ("NCHW", "NHWC")
    if rois.size(1) == 4:
        rois = torch.cat([torch.zeros(rois.size(0), 1), rois], 1)
    assert not aligned or (rois[:, 3:] >= rois[:, 1:3]).all()
    if order == "NHWC":
        features = features.permute(0, 3, 1, 2)
    out = torch.ops.torchvision.roi_align(features.contiguous(), rois, scale, high, wide, ratio, aligned)
    return made(out.permute(0, 2, 3, 1).numpy()) if order == "NHWC" else out


def roi_align_rotated(features, rois, order, scale, high, wide, ratio, aligned, _=None):
    x, rows = features.numpy().astype(float), rois.numpy().astype(float)
    assert order in ("NCHW", "NHWC") and rows.shape[1] in (5, 6)
    x = x.transpose(0, 3, 1, 2) if order == "NHWC" else x
    tall, across = x.shape[2:]
    out = np.zeros((len(rows), x.shape[1], high, wide))
    for k, row in enumerate(rows):
        plane, (cx, cy, w, h) = x[int(row[0]) if len(row) == 6 else 0], row[-5:-1] * scale
        angle = math.radians(row[-1])
        cx, cy = (cx - 0.5, cy - 0.5) if aligned else (cx, cy)
        assert not aligned or (w >= 0 and h >= 0)
        w, h = (w, h) if aligned else (max(w, 1), max(h, 1))
        grid = [ratio] * 2 if ratio > 0 else [math.ceil(h / high), math.ceil(w / wide)]
        for i in np.ndindex(high, wide):
            for j in np.ndindex(*grid):
                v = (i[0] + (j[0] + 0.5) / grid[0]) * h / high - h / 2
                u = (i[1] + (j[1] + 0.5) / grid[1]) * w / wide - w / 2
                py, px = v * math.cos(angle) - u * math.sin(angle) + cy, u * math.cos(angle) + v * math.sin(angle) + cx
                if -1 <= py <= tall and -1 <= px <= across:
                    py, px = min(max(py, 0), tall - 1), min(max(px, 0), across - 1)
                    top, left = min(int(py), tall - 2), min(int(px), across - 2)
                    fy, fx = py - top, px - left
                    near = plane[:, top:top + 2, left:left + 2]
                    value = (near[:, 0, 0] * (1 - fx) + near[:, 0, 1] * fx) * (1 - fy) + (near[:, 1, 0] * (1 - fx) + near[:, 1, 1] * fx) * fy
                    out[(k, slice(None)) + i] += value / max(grid[0] * grid[1], 1)
    out = out.transpose(0, 2, 3, 1) if order == "NHWC" else out
    return made(np.ascontiguousarray(out.astype(F)))


# For an upright region the result must be equal to torchvision's.
assert torch.allclose(roi_align_rotated(torch.arange(60.0).view(1, 1, 6, 10).sqrt(), torch.tensor([[5.0, 3, 6, 4, 0]]), "NCHW", 1.0, 2, 3, 2, True),
                      torch.ops.torchvision.roi_align(torch.arange(60.0).view(1, 1, 6, 10).sqrt(), torch.tensor([[0.0, 2, 1, 8, 5]]), 1.0, 2, 3, 2, True))


def transform(rois, deltas, info, weights, back, rotated, bound, low, high, angle, legacy, _=None):
    rois, deltas, info = rois.numpy(), deltas.numpy(), info.numpy()
    columns = 5 if rotated else 4
    assert rois.shape[1] in (columns, columns + 1) and deltas.shape[0] == rois.shape[0] and deltas.shape[1] % columns == 0
    assert len(weights) == 4 and info.shape[1] == 3
    image = rois[:, 0].astype(int) if rois.shape[1] > columns else np.zeros(len(rois), int)
    assert rois.shape[1] > columns or len(info) == 1
    assert ((image >= 0) & (image < len(info))).all()
    out = np.zeros_like(deltas)
    for i in range(len(info)):
        tall, wide, scale = info[i]
        mine = image == i
        box = rois[mine][:, -columns:].copy()
        box[:, :4] /= scale
        for k in range(0, deltas.shape[1], columns):
            there = moved(box, deltas[mine][:, k:k + columns], weights, int(legacy), bound, low, high)
            there = clipped(there, int(tall / scale + 0.5), int(wide / scale + 0.5), angle, int(legacy))
            there[:, :4] *= scale if back else 1
            out[mine, k:k + columns] = there
    return made(out), made(np.bincount(image, minlength=len(info)).astype(F))


def softened(boxes, scores, rows, sigma, threshold, least, gaussian, plus):
    kept = []
    while len(rows):
        best = rows[int(np.argmax(scores[rows]))]
        at = rows.index(best)
        rows[at], kept = rows[0], kept + [best]
        rows = rows[1:]
        if rows:
            o = overlaps(boxes[best], boxes[rows], plus)
            scores[rows] *= np.exp(-o * o / sigma) if gaussian else np.where(o > threshold, 1 - o, 1)
            rows = [r for r in rows if scores[r] >= least]
    return kept


def limited(scores, boxes, splits, chance, overlap, most, soft, method, sigma, soft_least, rotated, agnostic, with_background,
            names_background, legacy, _=None):
    assert scores.dim() in (2, 4) and boxes.dim() in (2, 4)
    scores, boxes, splits = scores.flatten(1).numpy(), boxes.flatten(1).numpy(), splits.numpy().astype(int)
    columns, classes, plus, first = (5 if rotated else 4), scores.shape[1], int(legacy), 0
    assert method in ("linear", "gaussian") and splits.sum() == len(scores) == len(boxes) and (splits >= 0).all()
    assert boxes.shape[1] == columns * (1 if agnostic else classes - (not with_background))
    out = [[], [], []]
    counts, keeps, sizes = [], [], np.zeros((len(splits), classes), np.int32)
    for b, rows in enumerate(splits):
        s, x = scores[first:first + rows].copy(), boxes[first:first + rows]
        first += rows
        picks = []
        for j in range(1, classes):
            c = j if with_background else j - 1
            box = x[:, (0 if agnostic else c) * columns:][:, :columns]
            good = np.nonzero(s[:, c] > F(chance))[0]
            if soft:
                kept = softened(box, s[:, c], list(good), sigma, overlap, soft_least, method == "gaussian", plus)
            else:
                kept = suppressed(box, good[np.argsort(-s[good, c], kind="stable")], overlap, plus, most)
            picks += [(j, r, s[r, c], box[r]) for r in kept]
        if most > 0 and len(picks) > most:
            picks = sorted(sorted(picks, key=lambda p: -p[2])[:most], key=lambda p: p[0])
        for j, r, chance_of, box in picks:
            out[0].append(chance_of)
            out[1].append(box)
            out[2].append(j if names_background else j - 1)
            keeps.append(r)
            sizes[b, j] += 1
        counts.append(len(picks))
    return (made(np.array(out[0], F)), made(np.array(out[1], F).reshape(-1, columns)), made(np.array(out[2], F)),
            made(np.array(counts, F)), made(np.array(keeps, np.int32)), made(sizes))


def keypoints(maps, boxes, softmax=True, _=None):
    maps, boxes = maps.numpy().astype(float), boxes.numpy().astype(float)
    regions, points, size, other = maps.shape
    assert size == other >= 2 and len(boxes) == regions and boxes.shape[1] >= 4
    out = np.zeros((regions, 4, points))
    for k in range(regions):
        side = np.maximum(boxes[k, 2:4] - boxes[k, :2], 1)
        for j in range(points):
            m = maps[k, j]
            y, x = divmod(int(m.argmax()), size)
            near = np.pad(m, 1, mode="reflect")[y:y + 3, x:x + 3]
            slope = np.array([near[1, 2] - near[1, 0], near[2, 1] - near[0, 1]]) / 2
            mixed = (near[2, 2] - near[2, 0] - near[0, 2] + near[0, 0]) / 4
            bend = np.array([[near[1, 0] - 2 * near[1, 1] + near[1, 2], mixed], [mixed, near[0, 1] - 2 * near[1, 1] + near[2, 1]]])
            delta = np.zeros(2)
            if abs(np.linalg.det(bend)) >= 1e-4:
                delta = np.linalg.solve(bend, -slope)
                delta = delta * (1.5 / np.abs(delta).max() if np.abs(delta).max() > 1.5 else 1)
            out[k, :2, j] = boxes[k, :2] + (0.5 + np.array([x, y]) + delta) * side / size
            out[k, 2, j] = m[y, x] + slope @ delta + delta @ bend @ delta / 2
            out[k, 3, j] = 1 / np.exp(m - m.max()).sum() if softmax else 0
    return made(out.astype(F))


def collected(inputs, high, low, most, _=None):
    levels = high - low + 1
    assert len(inputs) == 2 * levels and levels > 0
    for r, s in zip(inputs[:levels], inputs[levels:]):
        assert r.size(1) == 5 and s.numel() == r.size(0)
    rows, scores = torch.cat(list(inputs[:levels])), torch.cat([s.flatten() for s in inputs[levels:]])
    order = torch.argsort(scores, descending=True, stable=True)
    return rows[order[:most] if most > 0 else order]


def distributed(rois, scale, level, high, low, legacy, _=None):
    assert high - low == 3 and rois.size(1) in (4, 5)
    rows = rois.numpy() if rois.size(1) == 5 else np.concatenate([np.zeros((len(rois), 1), F), rois.numpy()], 1)
    area = np.prod(rows[:, 3:] - rows[:, 1:3] + int(legacy), axis=1)
    assert (area >= 0).all()
    fits = np.clip(np.floor(level + np.log2(np.sqrt(area) / scale + 1e-6)), low, high)
    order = [np.nonzero(fits == k)[0] for k in range(low, high + 1)]
    return tuple(made(rows[o].astype(F)) for o in order) + (made(np.argsort(np.concatenate(order)).astype(np.int32)),)


def collected_and_distributed(inputs, scale, level, high, low, rpn_high, rpn_low, most, legacy, _=None):
    rois = collected(inputs, rpn_high, rpn_low, most)
    return (rois,) + distributed(rois, scale, level, high, low, legacy)


def permuted(x, indices, _=None):
    assert indices.dim() == 1 and indices.numel() == x.size(0) and ((indices >= 0) & (indices < x.size(0))).all()
    return x[indices.long()].contiguous()


OUT = ", Tensor[]? _caffe2_preallocated_outputs=None)"
SCHEMAS = [
    ("GenerateProposals(Tensor scores, Tensor bbox_deltas, Tensor im_info, Tensor anchors, float spatial_scale, int pre_nms_topN, "
     "int post_nms_topN, float nms_thresh, float min_size, bool angle_bound_on, int angle_bound_lo, int angle_bound_hi, "
     "float clip_angle_thresh, bool legacy_plus_one" + OUT + " -> (Tensor output_0, Tensor output_1)", proposals),
    ("RoIAlign(Tensor features, Tensor rois, str order, float spatial_scale, int pooled_h, int pooled_w, int sampling_ratio, "
     "bool aligned" + OUT + " -> Tensor", roi_align),
    ("RoIAlignRotated(Tensor features, Tensor rois, str order, float spatial_scale, int pooled_h, int pooled_w, int sampling_ratio, "
     "bool aligned" + OUT + " -> Tensor", roi_align_rotated),
    ("BBoxTransform(Tensor rois, Tensor deltas, Tensor im_info, float[] weights, bool apply_scale, bool rotated, bool angle_bound_on, "
     "int angle_bound_lo, int angle_bound_hi, float clip_angle_thresh, bool legacy_plus_one" + OUT + " -> (Tensor output_0, "
     "Tensor output_1)", transform),
    ("BoxWithNMSLimit(Tensor scores, Tensor boxes, Tensor batch_splits, float score_thresh, float nms, int detections_per_im, "
     "bool soft_nms_enabled, str soft_nms_method, float soft_nms_sigma, float soft_nms_min_score_thres, bool rotated, "
     "bool cls_agnostic_bbox_reg, bool input_boxes_include_bg_cls, bool output_classes_include_bg_cls, bool legacy_plus_one" + OUT +
     " -> (Tensor scores, Tensor boxes, Tensor classes, Tensor batch_splits, Tensor keeps, Tensor keeps_size)", limited),
    ("HeatmapMaxKeypoint(Tensor heatmaps, Tensor bboxes_in, bool should_output_softmax=True" + OUT + " -> Tensor keypoints", keypoints),
    ("CollectRpnProposals(Tensor[] input_list, int rpn_max_level, int rpn_min_level, int rpn_post_nms_topN" + OUT + " -> Tensor rois",
     collected),
    ("DistributeFpnProposals(Tensor rois, int roi_canonical_scale, int roi_canonical_level, int roi_max_level, int roi_min_level, "
     "bool legacy_plus_one" + OUT + " -> (Tensor rois_fpn2, Tensor rois_fpn3, Tensor rois_fpn4, Tensor rois_fpn5, "
     "Tensor rois_idx_restore_int32)", distributed),
    ("CollectAndDistributeFpnRpnProposals(Tensor[] input_list, int roi_canonical_scale, int roi_canonical_level, int roi_max_level, "
     "int roi_min_level, int rpn_max_level, int rpn_min_level, int rpn_post_nms_topN, bool legacy_plus_one" + OUT + " -> (Tensor rois, "
     "Tensor rois_fpn2, Tensor rois_fpn3, Tensor rois_fpn4, Tensor rois_fpn5, Tensor rois_idx_restore_int32)", collected_and_distributed),
    ("BatchPermutation(Tensor X, Tensor indices" + OUT + " -> Tensor", permuted),
    ("AliasWithName(Tensor input, str name, bool is_backward=False" + OUT + " -> Tensor output", lambda x, *_: x.clone()),
    ("CopyGPUToCPU(Tensor input" + OUT + " -> Tensor", lambda x, *_: x.clone()),
    ("CopyCPUToGPU(Tensor input" + OUT + " -> Tensor", lambda x, *_: x.clone()),
]
LIBRARY = None
if not hasattr(torch.ops._caffe2, "GenerateProposals"):  # registered only if PyTorch lacks the operators
    LIBRARY = torch.library.Library("_caffe2", "DEF")
    for schema, function in SCHEMAS:
        LIBRARY.define(schema)
        LIBRARY.impl(schema.split("(")[0], function, "CPU" if "Tensor[] input_list" not in schema else "CompositeImplicitAutograd")


# ---- cases

def case(name, inputs, call, result, args, **options):
    CASES.append((name, f"def f({', '.join(i + ': Tensor' for i in inputs.split())}) -> {result}:\n    return torch.ops._caffe2.{call}\n",
                  args, options))


def noise(*sizes, seed=0):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed + sum(sizes)))


def some_boxes(count, side=40.0, seed=0, rotated=False):
    generator = torch.Generator().manual_seed(seed + count)
    corners = torch.rand(count, 4, generator=generator) * side
    if rotated:
        return torch.cat([corners[:, :2], corners[:, 2:] / 2 + 3, torch.rand(count, 1, generator=generator) * 360 - 180], 1)
    corners[:, 2:] = corners[:, :2] + corners[:, 2:] / 2
    return corners


def distinct(*sizes, seed=0):
    """Returns distinct numbers between 0 and 1, so that sorting by them has one result."""
    count = math.prod(sizes)
    return ((torch.randperm(count, generator=torch.Generator().manual_seed(seed)) + 0.5) / count).reshape(sizes)


PAIR, NMS = "Tuple[Tensor, Tensor]", "Tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]"
ANCHORS = {4: torch.tensor([[-8.0, -4, 7, 3], [-4.0, -8, 3, 7], [-12.0, -12, 11, 11]]),
           5: torch.tensor([[0.0, 0, 16, 8, 0], [0.0, 0, 8, 16, 30], [0.0, 0, 20, 10, -60]])}
for columns in (4, 5):
    for images, before, after, legacy in ((1, 0, 0, False), (2, 30, 8, True), (2, 1000, 5, False), (1, 7, 100, True), (0, 10, 10, False)):
        for name, options in (("plain", "0.5, 2.0, True, -90, 90, 1.0"), ("free", "0.7, 0.0, False, 0, 0, -1.0"),
                              ("large", "0.3, 9.0, True, -180, 180, 45.0")):
            case(f"proposals-{columns}-{images}-{before}-{after}-{name}", "s d i a",
                 f"GenerateProposals(s, d, i, a, 0.125, {before}, {after}, {options}, {legacy})", PAIR,
                 lambda columns=columns, images=images: (distinct(images, 3, 4, 5), noise(images, 3 * columns, 4, 5) * 0.3,
                                                         torch.tensor([[32.0, 40.0, 1.0], [30.5, 38.0, 1.5]])[:images], ANCHORS[columns]))
CALL = "GenerateProposals(s, d, i, a, 0.125, 10, 10, 0.5, 0.0, True, -90, 90, 1.0, False)"
for name, scores, deltas, info, anchors in (("rank", (3, 4, 5), (1, 12, 4, 5), (1, 3), 4), ("deltas", (1, 3, 4, 5), (1, 11, 4, 5), (1, 3), 4),
                                            ("info", (1, 3, 4, 5), (1, 12, 4, 5), (1, 2), 4), ("anchors", (1, 2, 4, 5), (1, 8, 4, 5), (1, 3), 4)):
    case(f"proposals-bad-{name}", "s d i a", CALL, PAIR, (torch.rand(scores), torch.rand(deltas), torch.rand(info), ANCHORS[anchors]))
case("proposals-bad-angles", "s d i a", CALL.replace("-90, 90", "-90, 80"), PAIR,
     (torch.rand(1, 3, 4, 5), torch.rand(1, 15, 4, 5), torch.rand(1, 3), ANCHORS[5]))

for order in ("NCHW", "NHWC"):
    for indexed in (True, False):
        for ratio in (-1, 0, 2):
            for aligned in (False, True):
                def args(order=order, indexed=indexed):
                    x = noise(2, 3, 12, 14)
                    rois = some_boxes(6, 30)
                    rois = torch.cat([torch.tensor([[0.0], [1], [1], [0], [1], [0]]), rois], 1) if indexed else rois
                    return (x.permute(0, 2, 3, 1).contiguous() if order == "NHWC" else x), rois
                case(f"roi_align-{order}-{indexed}-{ratio}-{aligned}", "x r", f"RoIAlign(x, r, '{order}', 0.5, 3, 4, {ratio}, {aligned})",
                     "Tensor", args)
    case(f"roi_align-{order}-none", "x r", f"RoIAlign(x, r, '{order}', 0.5, 3, 4, 0, True)", "Tensor", (noise(1, 3, 6, 6), torch.zeros(0, 5)))
    for indexed, ratio, aligned in ((True, 0, True), (True, 2, False), (False, 2, True), (False, -1, False)):
        def args(order=order, indexed=indexed):
            x, rois = noise(2, 3, 12, 14), some_boxes(7, 28, rotated=True)
            rois = torch.cat([torch.tensor([[0.0], [1], [1], [0], [1], [0], [0]]), rois], 1) if indexed else rois
            return (x.permute(0, 2, 3, 1).contiguous() if order == "NHWC" else x), rois
        case(f"roi_align_rotated-{order}-{indexed}-{ratio}-{aligned}", "x r",
             f"RoIAlignRotated(x, r, '{order}', 0.5, 3, 2, {ratio}, {aligned})", "Tensor", args, rtol=1e-3)
case("roi_align_rotated-bad-columns", "x r", "RoIAlignRotated(x, r, 'NCHW', 0.5, 3, 2, 0, True)", "Tensor", (noise(1, 3, 6, 6), torch.rand(2, 4)))
case("roi_align_rotated-bad-negative", "x r", "RoIAlignRotated(x, r, 'NCHW', 0.5, 3, 2, 0, True)", "Tensor",
     (noise(1, 3, 6, 6), torch.tensor([[0.0, 3, 3, 2, -2, 10]])))
CASES.append(("roi_align-after-conv", "def f(x: Tensor, w: Tensor, r: Tensor) -> Tensor:\n    y = F.conv2d(x, w).relu()\n"
              "    return torch.ops._caffe2.RoIAlign(y, r, 'NCHW', 0.5, 3, 4, 2, True)\n", (noise(1, 3, 12, 14), noise(4, 3, 1, 1), some_boxes(5, 20))))
for name, call, x, r in (("order", "RoIAlign(x, r, 'HWCN', 0.5, 3, 4, 0, True)", (1, 3, 6, 6), torch.rand(2, 5) * 0.4),
                         ("columns", "RoIAlign(x, r, 'NCHW', 0.5, 3, 4, 0, True)", (1, 3, 6, 6), torch.rand(2, 6)),
                         ("negative", "RoIAlign(x, r, 'NCHW', 0.5, 3, 4, 0, True)", (1, 3, 6, 6), torch.tensor([[0.0, 5, 5, 2, 2]]))):
    case(f"roi_align-bad-{name}", "x r", call, "Tensor", (torch.rand(x), r))


def regions(count, images, columns):
    boxes = some_boxes(count, rotated=columns == 5)
    image = torch.sort(torch.randint(0, max(images, 1), (count, 1), generator=torch.Generator().manual_seed(count)), 0)[0].float()
    return torch.cat([image, boxes], 1) if images else boxes


INFO = torch.tensor([[60.0, 50.0, 2.0], [33.0, 47.0, 1.5], [20.0, 20.0, 1.0]])
for rotated in (False, True):
    columns = 5 if rotated else 4
    for images, count, classes in ((0, 6, 1), (3, 9, 3), (1, 4, 2), (3, 0, 2), (2, 5, 0)):
        for back in (False, True):
            for legacy in (False, True):
                case(f"transform-{rotated}-{images}-{count}-{classes}-{back}-{legacy}", "r d i",
                     f"BBoxTransform(r, d, i, [10.0, 10.0, 5.0, 5.0], {back}, {rotated}, True, -90, 90, 2.0, {legacy})", PAIR,
                     lambda columns=columns, images=images, count=count, classes=classes: (
                         regions(count, images, columns), noise(count, classes * columns) * 4, INFO[:max(images, 1)]))
case("transform-far", "r d i", "BBoxTransform(r, d, i, [1.0, 1.0, 1.0, 1.0], True, False, False, 0, 0, 1.0, False)", PAIR,
     (some_boxes(4), noise(4, 8) * 50, INFO[:1]))  # sides grow at most by a factor of 62.5
TRANSFORM = "BBoxTransform(r, d, i, [1.0, 1.0, 1.0, 1.0], True, False, True, -90, 90, 1.0, False)"
for name, call, r, d, i in (("columns", TRANSFORM, (4, 6), (4, 4), 1), ("deltas", TRANSFORM, (4, 5), (4, 5), 1), ("rows", TRANSFORM, (4, 5), (3, 4), 1),
                            ("images", TRANSFORM, (4, 4), (4, 4), 2), ("weights", TRANSFORM.replace("1.0, 1.0, 1.0, 1.0", "1.0"), (4, 5), (4, 4), 1)):
    case(f"transform-bad-{name}", "r d i", call, PAIR, (torch.zeros(r), torch.zeros(d), INFO[:i]))
case("transform-bad-image", "r d i", TRANSFORM, PAIR, (torch.full((2, 5), 3.0), torch.zeros(2, 4), INFO))


def candidates(rows, classes, boxes, rotated, places):
    return distinct(rows, classes, seed=rows), torch.cat([some_boxes(rows, 25, k, rotated) for k in range(boxes)], 1), torch.tensor(places)


SPLITS = [([7.0], 7), ([4.0, 0.0, 9.0], 13), ([20.0], 20)]
for rotated in (False, True):
    for places, rows in SPLITS:
        for agnostic, with_background, names_background in ((False, True, True), (False, False, False), (True, True, False), (True, False, True)):
            boxes = 1 if agnostic else 4 if with_background else 3
            for most in (-1, 5, 100):
                for soft, method in ((False, "linear"), (True, "linear"), (True, "gaussian")):
                    if rotated and most == 100:
                        continue
                    case(f"limit-{rotated}-{rows}-{agnostic}-{with_background}-{most}-{soft}-{method}", "s b n",
                         f"BoxWithNMSLimit(s, b, n, 0.3, 0.4, {most}, {soft}, '{method}', 0.5, 0.1, {rotated}, {agnostic}, {with_background}, "
                         f"{names_background}, {rows == 7})", NMS, lambda rows=rows, boxes=boxes, rotated=rotated, places=places:
                         candidates(rows, 4, boxes, rotated, places))
LIMIT = "BoxWithNMSLimit(s, b, n, 0.05, 0.5, 100, False, 'linear', 0.5, 0.1, False, False, True, True, True)"
# Computed by hand: the second box overlaps the first by 81 / 119 and does not overlap the third.
case("limit-hand", "s b n", LIMIT, NMS, (torch.tensor([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]), torch.tensor(
    [[0.0, 0, 9, 9], [1, 1, 10, 10], [20, 20, 29, 29]]).repeat(1, 2), torch.tensor([3.0])))
case("limit-4d", "s b n", LIMIT, NMS, lambda: tuple(t.reshape(9, -1, 1, 1) if t.dim() == 2 else t.int() for t in candidates(9, 3, 3, False, [9.0])))
case("limit-none", "s b n", LIMIT, NMS, (torch.zeros(0, 3), torch.zeros(0, 12), torch.tensor([0.0])))
case("limit-below", "s b n", LIMIT, NMS, (torch.zeros(4, 3), torch.zeros(4, 12), torch.tensor([4.0])))
case("limit-background", "s b n", LIMIT, NMS, (torch.ones(4, 1), torch.zeros(4, 4), torch.tensor([4.0])))
for name, call, s, b, n in (("boxes", LIMIT, (4, 3), (4, 8), [4.0]), ("rows", LIMIT, (4, 3), (3, 12), [4.0]), ("sum", LIMIT, (4, 3), (4, 12), [3.0]),
                            ("split", LIMIT, (4, 3), (4, 12), [-1.0, 5.0]), ("method", LIMIT.replace("linear", "cubic"), (4, 3), (4, 12), [4.0]),
                            ("rank", LIMIT, (4, 3, 1), (4, 12), [4.0])):
    case(f"limit-bad-{name}", "s b n", call, NMS, (torch.rand(s), torch.rand(b), torch.tensor(n)))
# With one class and no limit the result is equal to torchvision's nms.
CASES.append(("limit-nms", "def f(s: Tensor, b: Tensor, n: Tensor) -> Tuple[Tensor, Tensor]:\n"
              "    x = torch.ops._caffe2.BoxWithNMSLimit(s, b, n, 0.0, 0.5, -1, False, 'linear', 0.5, 0.1, False, True, True, True, False)\n"
              "    return x[4], torch.ops.torchvision.nms(b, s[:, 1], 0.5) - x[4]\n",
              (distinct(80, 2), some_boxes(80), torch.tensor([80.0]))))

for points, size, count in ((3, 8, 2), (1, 2, 3), (17, 5, 1), (2, 4, 0)):
    for softmax in (", True", ", False", ""):
        case(f"keypoint-{points}-{size}-{count}{softmax}", "m b", f"HeatmapMaxKeypoint(m, b{softmax})", "Tensor",
             lambda points=points, size=size, count=count: (noise(count, points, size, size), some_boxes(count)), rtol=1e-3)
HILL = torch.tensor([[0.0, 0, 0, 0], [0, 3, 4, 3], [0, 2, 3, 2], [0, 0, 0, 0]])[None, None]
case("keypoint-hand", "m b", "HeatmapMaxKeypoint(m, b, False)", "Tensor", (HILL, torch.tensor([[0.0, 0, 4, 4]])))
case("keypoint-flat", "m b", "HeatmapMaxKeypoint(m, b, True)", "Tensor", (torch.ones(1, 2, 4, 4), torch.tensor([[0.0, 0, 0.5, 4, 9]])))
for name, m, b in (("square", (1, 2, 4, 5), (1, 4)), ("small", (1, 2, 1, 1), (1, 4)), ("rows", (1, 2, 4, 4), (2, 4)), ("columns", (1, 2, 4, 4), (1, 3))):
    case(f"keypoint-bad-{name}", "m b", "HeatmapMaxKeypoint(m, b, True)", "Tensor", (torch.rand(m), torch.rand(b)))
# Computed by hand: the slopes are 0 across and 1.5 down, the second derivatives -2 and -5, so the maximum is 0.3 further down.
assert np.allclose(keypoints(HILL, torch.tensor([[0.0, 0, 4, 4]]), False).flatten(), [2.5, 1.8, 4.225, 0])


def pyramid(counts, seed=0):
    rows = [torch.cat([torch.zeros(n, 1), some_boxes(n, 60 * 2.0 ** i, seed)], 1) for i, n in enumerate(counts)]
    scores = distinct(sum(counts), seed=seed)
    return rows + list(torch.split(scores, list(counts)))


def listed(name, call, result, args):
    CASES.append((name, f"def f(x: List[Tensor]) -> {result}:\n    return torch.ops._caffe2.{call}\n", args))


FIVE, SIX = "Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]", NMS
for most in (-1, 0, 6, 500):
    for counts in ((4, 0, 7), (0, 0, 0), (3, 2, 1)):
        listed(f"collect-{most}-{counts}", f"CollectRpnProposals(x, 4, 2, {most})", "Tensor", lambda counts=counts: (pyramid(counts),))
        listed(f"collect_and_distribute-{most}-{counts}", f"CollectAndDistributeFpnRpnProposals(x, 28, 3, 5, 2, 4, 2, {most}, True)", SIX,
               lambda counts=counts: (pyramid(counts),))
listed("collect-bad-levels", "CollectRpnProposals(x, 4, 3, 5)", "Tensor", (pyramid((2, 2, 2)),))
listed("collect-bad-order", "CollectRpnProposals(x, 2, 4, 5)", "Tensor", (pyramid((2, 2, 2)),))
listed("collect-bad-scores", "CollectRpnProposals(x, 2, 2, 5)", "Tensor", ([torch.zeros(3, 5), torch.zeros(2)],))
listed("collect_and_distribute-bad-levels", "CollectAndDistributeFpnRpnProposals(x, 28, 3, 4, 2, 4, 2, 5, True)", SIX, (pyramid((2, 2, 2)),))
for legacy in (False, True):
    for columns in (4, 5):
        for count in (0, 1, 40):
            case(f"distribute-{legacy}-{columns}-{count}", "r", f"DistributeFpnProposals(r, 28, 3, 5, 2, {legacy})", FIVE,
                 lambda columns=columns, count=count: (torch.cat([torch.ones(count, 1), some_boxes(count, 300)], 1)[:, 5 - columns:],))
case("distribute-bad-area", "r", "DistributeFpnProposals(r, 28, 3, 5, 2, False)", FIVE, (torch.tensor([[5.0, 0, 1, 4]]),))
case("distribute-bad-levels", "r", "DistributeFpnProposals(r, 28, 3, 6, 2, False)", FIVE, (torch.zeros(2, 5),))
case("distribute-bad-columns", "r", "DistributeFpnProposals(r, 28, 3, 5, 2, False)", FIVE, (torch.zeros(2, 3),))

for sizes in ((5, 3, 2), (4,), (0, 3), (3, 0), (6, 2)):
    case(f"permute-{sizes}", "x i", "BatchPermutation(x, i)", "Tensor",
         lambda sizes=sizes: (noise(*sizes), torch.randperm(sizes[0], generator=torch.Generator().manual_seed(1)).int()))
case("permute-bad-index", "x i", "BatchPermutation(x, i)", "Tensor", (noise(3, 2), torch.tensor([0, 3, 1], dtype=torch.int32)))
case("permute-bad-size", "x i", "BatchPermutation(x, i)", "Tensor", (noise(3, 2), torch.tensor([0, 1], dtype=torch.int32)))
CASES.append(("copies", "def f(x: Tensor) -> Tuple[Tensor, Tensor]:\n    y = torch.ops._caffe2.CopyCPUToGPU(x * 2)\n"
              "    z = torch.ops._caffe2.AliasWithName(y + 1, 'boxes')\n    return torch.ops._caffe2.CopyGPUToCPU(y), "
              "torch.ops._caffe2.AliasWithName(z, 'rois', False)\n", lambda: (noise(2, 3),)))

# ---- a detector's two stages

CASES.append(("detector", """
def f(features: Tensor, scores: Tensor, deltas: Tensor, info: Tensor, anchors: Tensor, w: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    rois, chances = torch.ops._caffe2.GenerateProposals(scores, deltas, info, anchors, 0.125, 50, 12, 0.7, 0.0, True, -90, 90, 1.0, False)
    rois = torch.ops._caffe2.CollectRpnProposals([rois, chances], 2, 2, 10)
    a, b, c, d, order = torch.ops._caffe2.DistributeFpnProposals(rois, 24, 3, 5, 2, False)
    pooled: List[Tensor] = []
    for level in [a, b, c, d]:
        pooled.append(torch.ops._caffe2.RoIAlign(features, level, 'NCHW', 0.125, 2, 2, 2, True))
    x = torch.ops._caffe2.BatchPermutation(torch.cat(pooled), order).flatten(1)
    y = x @ w
    s, t = torch.softmax(y[:, :3], 1), y[:, 3:]
    boxes, splits = torch.ops._caffe2.BBoxTransform(rois, t, info, [10.0, 10.0, 5.0, 5.0], True, False, True, -90, 90, 1.0, False)
    out = torch.ops._caffe2.BoxWithNMSLimit(s, boxes, splits, 0.05, 0.5, 5, False, 'linear', 0.5, 0.001, False, False, False, False, False)
    return torch.ops._caffe2.CopyGPUToCPU(out[0]), out[1], out[2], out[3]
""", lambda: (noise(1, 4, 4, 5), distinct(1, 3, 4, 5), noise(1, 12, 4, 5) * 0.2, torch.tensor([[32.0, 40.0, 1.0]]), ANCHORS[4], noise(16, 11) * 0.5)))
