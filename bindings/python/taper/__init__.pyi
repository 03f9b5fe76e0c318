# SPDX-License-Identifier: BSD-2-Clause
# The types of the package. tests/python/stubs_test.py holds them against what it has.
import enum
import os
from typing import IO, Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Protocol, Sequence, Tuple, Union, final

import numpy as _np

from . import _taper as _taper

class _DLPack(Protocol):
    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> Tuple[Any, int]: ...

class _Script(Protocol):
    def save_to_buffer(self) -> bytes: ...

_Array = Union["Tensor", "_np.ndarray[Any, Any]", bytes, bytearray, memoryview, _DLPack]
_Path = Union[str, "os.PathLike[str]"]
_Source = Union[_Path, bytes, bytearray, memoryview, IO[bytes], "Model", _Script, Any]
_Sample = Union[_Array, Sequence[Any]]

__version__: str

class Status(enum.IntEnum):
    ARGUMENT = 1
    FILE = 2
    UNSUPPORTED = 3
    RESOURCE = 4
    DEVICE = 5
    RAISED = 6
    CANCELLED = 7
    INTERNAL = 8

class Error(RuntimeError):
    status: Status
    detail: str
    offset: Optional[int]

@final
class Context:
    def __init__(self, *, threads: Optional[int] = None, cache_dir: Optional[_Path] = None, cpu: Optional[str] = None) -> None: ...
    @property
    def threads(self) -> int: ...
    @property
    def cpu(self) -> List[str]: ...
    def trim(self) -> None: ...

@final
class Tensor:
    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def strides(self) -> Tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def is_quantized(self) -> bool: ...
    @property
    def scale(self) -> Optional[float]: ...
    @property
    def zero_point(self) -> Optional[int]: ...
    @property
    def __array_interface__(self) -> Dict[str, Any]: ...
    def numpy(self) -> "_np.ndarray[Any, Any]": ...
    def tolist(self) -> Any: ...
    def item(self) -> Any: ...
    def to(self, dtype: str, /) -> "Tensor": ...
    def dequantize(self) -> "Tensor": ...
    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> "_np.ndarray[Any, Any]": ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: Optional[Tuple[int, int]] = None,
        dl_device: Optional[Tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __float__(self) -> float: ...
    def __int__(self) -> int: ...
    def __bool__(self) -> bool: ...

@final
class Object:
    @property
    def type(self) -> str: ...
    @property
    def fields(self) -> Tuple[str, ...]: ...
    def __getattr__(self, name: str) -> Any: ...

@final
class Method:
    @property
    def __name__(self) -> str: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Row(NamedTuple):
    name: str
    kernel: str
    fused: bool
    calls: int
    seconds: float
    flops: float

class Profile:
    rows: List[Row]
    runs: int
    def __init__(self, rows: List[Row], runs: int) -> None: ...
    @property
    def seconds(self) -> float: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Row]: ...

@final
class Model:
    @property
    def name(self) -> str: ...
    @property
    def methods(self) -> List[str]: ...
    @property
    def bytecode_version(self) -> int: ...
    @property
    def operator_version(self) -> int: ...
    @property
    def training(self) -> bool: ...
    @property
    def exported_by(self) -> Optional[str]: ...
    @property
    def operators(self) -> Dict[str, int]: ...
    @property
    def extra_files(self) -> Dict[str, bytes]: ...
    @property
    def context(self) -> Context: ...
    @property
    def device(self) -> str: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __getattr__(self, name: str) -> Method: ...
    def __dir__(self) -> List[str]: ...
    def method(self, name: str, /) -> Method: ...
    def attribute(self, path: str, /) -> Any: ...
    def signature(self, method: str = "forward") -> Tuple[Optional[List[Tuple[str, str]]], Optional[str]]: ...
    def inspect(self) -> Dict[str, Any]: ...
    def graph(self, method: str = "forward") -> str: ...
    def memory(self) -> Dict[str, int]: ...
    def bundled_inputs(self, method: str = "forward") -> List[Tuple[Any, ...]]: ...
    def profile(self, *inputs: Any, method: str = "forward", runs: int = 10, warmup: int = 2, **keywords: Any) -> Profile: ...
    def clone(
        self,
        *,
        time_budget: Optional[float] = None,
        instruction_budget: Optional[int] = None,
        memory_budget: Optional[int] = None,
        results_stay: bool = False,
    ) -> "Model": ...
    def cancel(self) -> None: ...
    def seed(self, number: int, /) -> None: ...
    def trim(self) -> None: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: _Path) -> None: ...

class Layer(NamedTuple):
    name: str
    operator: str
    kept_float: bool
    scale: float
    zero_point: int
    sqnr: float

class Quantized:
    model: Model
    layers: List[Layer]
    sqnr: float
    inputs: List[Optional[Tuple[float, int]]]
    def __init__(self, model: Model, layers: List[Layer], sqnr: float, inputs: List[Optional[Tuple[float, int]]]) -> None: ...
    def __call__(self, *inputs: Any, **keywords: Any) -> Any: ...
    def save(self, path: _Path) -> None: ...
    def to_bytes(self) -> bytes: ...

def load(
    source: _Source,
    *,
    threads: Optional[int] = None,
    device: Optional[str] = None,
    cache_dir: Optional[_Path] = None,
    optimize: bool = True,
    disable_passes: Union[None, str, Iterable[str]] = None,
    evaluation: bool = False,
    copy: bool = False,
    reference: bool = False,
    methods: Union[None, str, Iterable[str]] = None,
    low_memory: bool = False,
    precision: Optional[str] = None,
    guards: bool = True,
    device_options: Optional[str] = None,
    cpu: Optional[str] = None,
    context: Optional[Context] = None,
    time_budget: Optional[float] = None,
    instruction_budget: Optional[int] = None,
    memory_budget: Optional[int] = None,
    load_memory_limit: Optional[int] = None,
    load_step_limit: Optional[int] = None,
    results_stay: bool = False,
) -> Model: ...
def optimize_for_mobile(
    script_module: _Source,
    optimization_blocklist: Union[None, str, Iterable[Any]] = None,
    preserved_methods: Union[None, str, Iterable[str]] = None,
    backend: str = "CPU",
    *,
    inputs: Optional[Sequence[Any]] = None,
    backend_options: Optional[str] = None,
    bytecode: Optional[int] = None,
    flatbuffer: bool = False,
    name: Optional[str] = None,
    debug_info: bool = False,
    extra_files: Optional[Mapping[str, Union[str, bytes]]] = None,
    context: Optional[Context] = None,
) -> Model: ...
def convert(
    source: _Source,
    *,
    bytecode: Optional[int] = None,
    flatbuffer: bool = False,
    name: Optional[str] = None,
    debug_info: bool = False,
    extra_files: Optional[Mapping[str, Union[str, bytes]]] = None,
    context: Optional[Context] = None,
) -> Model: ...
def bundle(
    source: _Source,
    samples: Iterable[_Sample],
    *,
    method: str = "forward",
    bytecode: Optional[int] = None,
    flatbuffer: bool = False,
    context: Optional[Context] = None,
) -> Model: ...
def quantize(
    source: _Source,
    samples: Optional[Iterable[_Sample]] = None,
    *,
    mode: str = "core",
    observer: str = "histogram",
    percentile: Optional[float] = None,
    per_channel: bool = False,
    bias_correction: bool = False,
    equalize: bool = False,
    keep_float: Union[None, str, Iterable[str]] = None,
    preserved_methods: Union[None, str, Iterable[str]] = None,
    compare: int = 8,
    bytecode: Optional[int] = None,
    flatbuffer: bool = False,
    extra_files: Optional[Mapping[str, Union[str, bytes]]] = None,
    context: Optional[Context] = None,
) -> Quantized: ...
def tensor(array: _Array, dtype: Optional[str] = None, *, context: Optional[Context] = None) -> Tensor: ...
def quantize_tensor(
    array: _Array, scale: float, zero_point: int, dtype: str = "quint8", *, context: Optional[Context] = None
) -> Tensor: ...
def default_context() -> Context: ...
def passes() -> List[Tuple[str, str, bool, bool]]: ...
def build() -> Dict[str, Any]: ...
