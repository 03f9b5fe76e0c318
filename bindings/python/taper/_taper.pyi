# SPDX-License-Identifier: BSD-2-Clause
# The extension module, which is private; __init__.pyi has the public types.
from typing import Any

def __getattr__(name: str) -> Any: ...
