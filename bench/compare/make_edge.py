#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_edge.py PATH BUILDER SIZE: converts PATH.pt, written by make_models.py, to PATH.pte (ExecuTorch with XNNPACK) and PATH.tflite (LiteRT), for
float networks. The weights come from the file, the module from torchvision's builder. Needs torch and torchvision, and executorch or litert-torch
or both, which need a newer PyTorch than 1.13."""
import sys
import warnings

warnings.filterwarnings("ignore")


def network(path, name):
    import torch
    from torchvision import models

    builder = getattr(models, name, None) or getattr(models.segmentation, name)
    options = {"weights": None, "weights_backbone": None} if not hasattr(models, name) else {"weights": None}
    if name in ("googlenet", "inception_v3"):
        options |= {"aux_logits": False, "init_weights": False}
    module = builder(**options)
    module.load_state_dict(torch.jit.load(path + ".pt").state_dict(), strict=False)

    class Plain(torch.nn.Module):  # a module that returns only the entry "out" of a network's result dict
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, x):
            result = self.inner(x)
            return result["out"] if isinstance(result, dict) else result

    return Plain().eval()


def executorch(module, x, path):
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    program = to_edge_transform_and_lower(torch.export.export(module, (x,)), partitioner=[XnnpackPartitioner()]).to_executorch()
    with open(path + ".pte", "wb") as f:
        f.write(program.buffer)


def litert(module, x, path):
    import litert_torch

    litert_torch.convert(module, (x,)).export(path + ".tflite")


def main():
    path, name, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    import torch

    x = torch.randn(1, 3, size, size, generator=torch.Generator().manual_seed(1))
    module = network(path, name)
    for make in (executorch, litert):
        try:
            make(module, x, path)
        except ImportError as e:
            print(f"{name}: {e}", file=sys.stderr)
        except Exception as e:  # each of the converter's many passes may raise its own exception
            print(f"{name}: no file for {make.__name__}: {str(e).splitlines()[0][:200]}", file=sys.stderr)


if __name__ == "__main__":
    main()
