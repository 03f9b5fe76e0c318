# SPDX-License-Identifier: BSD-2-Clause
"""Makes modules of PyTorch from generated sources."""
import contextlib
import linecache
import sys
import types

import torch


@contextlib.contextmanager
def module(source, seed):
    """Returns the module M of a source, in evaluation mode."""
    name = f"program_{seed}"
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = types.ModuleType(name)
    space.__file__ = file
    sys.modules[name] = space  # inspect looks classes up in sys.modules
    try:
        exec(compile(source, file, "exec"), space.__dict__)
        torch.manual_seed(7)
        with torch.no_grad():
            yield space.M().eval()
    finally:
        del sys.modules[name]
        del linecache.cache[file]


def build(source, seed):
    """Returns the scripted module. Raises PyTorch's exception if PyTorch refuses the source."""
    with module(source, seed) as made:
        return torch.jit.script(made).eval()
