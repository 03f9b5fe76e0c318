#!/usr/bin/python3
"""Trains, exports and measures the demo's two networks.

    train.py classifier     train it, write classifier.pt and classifier.ptl
    train.py segmenter      train it, write segmenter.pt and segmenter.ptl
    train.py samples        make the pictures in images/ and expected.json
    train.py evaluate       accuracy on held-out pictures; compares .pt with .ptl
"""
import argparse
import json
import os
import time
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.jit.mobile import _load_for_lite_interpreter
from torch.utils.mobile_optimizer import optimize_for_mobile

import data
import networks

HERE = os.path.dirname(os.path.abspath(__file__))

TASKS = {
    "classifier": {
        "network": lambda: networks.Classifier(len(data.CLASSIFY_LABELS)),
        "example": data.classify_example, "train_size": data.CLASSIFY_SIZE,
        "steps": 1500, "batch": 48, "rate": 4e-3,
        "meta": {"task": "classify", "size": [data.CLASSIFY_SIZE] * 2,
                 "mean": data.MEAN, "std": data.STD, "labels": data.CLASSIFY_LABELS},
    },
    "segmenter": {                      # the network is trained on small pictures, and used on larger pictures
        "network": lambda: networks.Segmenter(len(data.SEGMENT_LABELS)),
        "example": data.segment_example, "train_size": 128,
        "steps": 2900, "batch": 16, "rate": 3e-3,
        "meta": {"task": "segment", "size": [data.SEGMENT_SIZE] * 2,
                 "mean": data.MEAN, "std": data.STD, "labels": data.SEGMENT_LABELS,
                 "colors": list(data.SEGMENT_COLORS.values())},
    },
}


def normalise(pixels):
    """Converts uint8 [N,H,W,3] to the networks' float input [N,3,H,W]."""
    x = torch.from_numpy(np.ascontiguousarray(pixels)).permute(0, 3, 1, 2).float() / 255
    return (x - torch.tensor(data.MEAN).view(3, 1, 1)) / torch.tensor(data.STD).view(3, 1, 1)


def batch_of(example, split, start, count, size):
    pairs = [example(split, i, size) for i in range(start, start + count)]
    targets = torch.from_numpy(np.stack([p[1] for p in pairs]).astype(np.int64))
    return normalise(np.stack([p[0] for p in pairs])), targets


def initialise(module):
    if isinstance(module, nn.Conv2d) and module.bias is None:
        nn.init.kaiming_normal_(module.weight, mode="fan_out")
    elif isinstance(module, (nn.Conv2d, nn.Linear)):         # the last layer has no batch norm
        nn.init.normal_(module.weight, 0, 0.01)
        nn.init.zeros_(module.bias)


def logits_of(result):
    return result["out"] if isinstance(result, dict) else result


def train(name, out, steps):
    task = TASKS[name]
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    steps, batch = steps or task["steps"], task["batch"]
    network = task["network"]().apply(initialise).to(memory_format=torch.channels_last)
    print(f"{name}: {sum(p.numel() for p in network.parameters())} parameters, "
          f"{steps} steps of {batch} pictures", flush=True)
    # Only weights of convolutions and linear layers have weight decay.
    decayed = [p for p in network.parameters() if p.dim() > 1]
    others = [p for p in network.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.02},
                                   {"params": others, "weight_decay": 0.0}], lr=task["rate"])
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, task["rate"], total_steps=steps,
                                                   pct_start=0.15, final_div_factor=1000)
    began, losses, rights = time.time(), [], []
    for step in range(steps):
        x, y = batch_of(task["example"], "train", step * batch, batch, task["train_size"])
        logits = logits_of(network(x.contiguous(memory_format=torch.channels_last)))
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        rights.append((logits.argmax(1) == y).float().mean().item())
        if (step + 1) % 50 == 0:
            print(f"step {step + 1}: loss {np.mean(losses[-50:]):.4f}, correct "
                  f"{np.mean(rights[-50:]):.4f}, {time.time() - began:.0f} s", flush=True)
    export(name, network.to(memory_format=torch.contiguous_format), out)


def export(name, network, out):
    """Writes TorchScript for the full runtime (.pt) and optimised bytecode for the lite interpreter (.ptl)."""
    def base_name(*args):              # the written files contain names of sources; this function removes the folder from them
        lines, first, path = original(*args)
        return lines, first, os.path.basename(path) if path and path.startswith(HERE) else path

    original = torch._sources.get_source_lines_and_file
    with mock.patch.object(torch._sources, "get_source_lines_and_file", base_name):
        script = torch.jit.script(network.eval())
    extra = {"taper.json": json.dumps(TASKS[name]["meta"], indent=1)}
    script.save(os.path.join(out, name + ".pt"), _extra_files=extra)
    optimize_for_mobile(script)._save_for_lite_interpreter(
        os.path.join(out, name + ".ptl"), _extra_files=extra)


# ---------------------------------------------------------------- measuring

def evaluate(out, count):
    """Measures the held-out accuracy of both networks with the .pt files; the .ptl files must give the same classes."""
    with torch.no_grad():
        for name, task in TASKS.items():
            network = torch.jit.load(os.path.join(out, name + ".pt"))
            lite = _load_for_lite_interpreter(os.path.join(out, name + ".ptl"))
            classes = len(task["meta"]["labels"])
            confusion = np.zeros((classes, classes), np.int64)
            difference, same, total = 0.0, 0, 0
            for start in range(0, count, 20):
                x, y = batch_of(task["example"], "heldout", start, min(20, count - start),
                                task["meta"]["size"][0])
                logits = logits_of(network(x))
                guess = logits.argmax(1)
                pairs = (y * classes + guess).flatten().numpy()
                confusion += np.bincount(pairs, minlength=classes ** 2).reshape(classes, classes)
                if start % 200 == 0:
                    other = logits_of(lite(x))
                    difference = max(difference, (logits - other).abs().max().item())
                    same += (guess == other.argmax(1)).sum().item()
                    total += guess.numel()
            report(name, task["meta"], confusion, count)
            print(f"  .ptl against .pt: largest logit difference {difference:.2e}, "
                  f"same class {same}/{total}")


def report(name, meta, confusion, count):
    hits, truth, guesses = np.diag(confusion), confusion.sum(1), confusion.sum(0)
    accuracy = hits.sum() / confusion.sum()
    if meta["task"] == "classify":
        print(f"{name}: top-1 accuracy {accuracy:.4f} on {count} held-out pictures")
        scores = hits / truth
    else:
        scores = hits / (truth + guesses - hits)
        print(f"{name}: pixel accuracy {accuracy:.4f}, mean IoU {scores.mean():.4f} "
              f"on {count} held-out pictures")
    print("  " + ", ".join(f"{l} {s:.3f}" for l, s in zip(meta["labels"], scores)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["classifier", "segmenter", "samples", "evaluate"])
    parser.add_argument("--out", default=HERE, help="folder of the model files")
    parser.add_argument("--steps", type=int, help="training steps, instead of the default")
    parser.add_argument("--count", type=int, default=2000, help="held-out pictures to measure on")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if args.what in TASKS:
        train(args.what, args.out, args.steps)
    elif args.what == "samples":
        import samples
        samples.make(args.out)
    else:
        evaluate(args.out, args.count)


if __name__ == "__main__":
    main()
