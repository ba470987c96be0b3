"""Where arrays live: numpy on the processor, PyTorch or CuPy on a device.

All of them are used through one set of functions, those of the Python array API and
their argument ``out``, so that the iteration is written once.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import validation
from ._blas import product

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from numpy.typing import NDArray

Array: TypeAlias = Any  # of numpy, PyTorch or CuPy
DEVICES = ("cpu", "cuda", "mps")
# Arrays of a chunk of pairs take at most this much. On a processor they stay in its
# cache; a device needs many pairs at a time to be busy.
PROCESSOR_CHUNK = 2**24
DEVICE_CHUNK = 2**31


@dataclass(frozen=True)
class Arrays:
    """A namespace of array functions, a device, and a precision.

    Attributes
    ----------
    xp : module
        numpy, or array-api-compat's PyTorch or CuPy.
    device : object
        In the words of the namespace; None for numpy.
    dtype : numpy.dtype
        float64 or float32.
    chunk_bytes : int
        Memory that the arrays of one chunk of pairs may take.
    """

    xp: ModuleType
    device: Any
    dtype: np.dtype[Any]
    chunk_bytes: int

    def put(self, array: NDArray[Any]) -> Array:
        """Copy an array of numpy to the device; numbers in our precision."""
        dtype = self.dtype if array.dtype.kind == "f" else array.dtype
        own = np.array(array, dtype=dtype)
        return own if self.xp is np else self.xp.asarray(own, device=self.device)

    def product(self, left: Array, right: Array, n_threads: int = 1) -> Array:
        """Multiply two large matrices; the result does not depend on n_threads."""
        if self.xp is not np:
            return self.xp.matmul(left, right)
        return product(left, right, n_threads)

    def rows(self, array: Array, which: NDArray[Any]) -> Array:
        """Gather rows, in the shape of the indices."""
        if self.xp is np:
            return np.take(array, which, axis=0)
        return array[self.put(which)]

    def positions(self, n: int) -> Array:
        """0, 1, ..., n - 1."""
        return self.put(np.arange(n))

    def empty(self, n: int, d: int) -> Array:
        """N rows of d numbers each, whatever they are."""
        if self.xp is np:
            return np.empty((n, d), self.dtype)
        dtype = getattr(self.xp, self.dtype.name)
        return self.xp.empty((n, d), dtype=dtype, device=self.device)

    def get(self, array: Array) -> NDArray[Any]:
        """Copy an array from the device; numbers as float64."""
        own: NDArray[Any] = to_numpy(array)
        return own.astype(np.float64) if own.dtype.kind == "f" else own


def numpy_arrays(dtype: np.dtype[Any]) -> Arrays:
    """Compute with numpy."""
    return Arrays(np, None, dtype, PROCESSOR_CHUNK)


def to_numpy(array: Array, name: str = "array") -> Any:
    """Take an array of PyTorch or CuPy to the processor, unless it has a gradient."""
    validation.require_no_gradient(array, name)
    if is_foreign(array):
        array = array.cpu().numpy() if is_torch(array) else array.get()
    return array


def is_torch(array: Array) -> bool:
    """Recognize arrays of PyTorch, without importing it."""
    return type(array).__module__.split(".")[0] == "torch"


def is_foreign(array: Array) -> bool:
    """Recognize arrays of PyTorch and CuPy, without importing them."""
    return type(array).__module__.split(".")[0] in {"torch", "cupy"}


def find_arrays(X: Array, device: str | None, dtype: np.dtype[Any]) -> Arrays:
    """Compute on the device asked for, or else where X lies."""
    if device is None and not is_foreign(X):
        return numpy_arrays(dtype)
    if device is not None:
        xp, place = _torch(device)
    else:
        try:
            import array_api_compat
        except ImportError as error:
            what = f"X is an array of {'PyTorch' if is_torch(X) else 'CuPy'}: it"
            raise ValueError(missing(what, error)) from error
        xp, place = array_api_compat.array_namespace(X), array_api_compat.device(X)
    if dtype == np.float64 and "mps" in str(place):
        raise ValueError("device 'mps' has no float64; choose dtype='float32'.")
    chunk = PROCESSOR_CHUNK if str(place) == "cpu" else DEVICE_CHUNK
    return Arrays(xp, place, dtype, chunk)


def _torch(device: str) -> tuple[ModuleType, Any]:
    """PyTorch, if it is installed and has this device."""
    if not isinstance(device, str) or device.split(":", maxsplit=1)[0] not in DEVICES:
        raise ValueError(f"device is {device!r}; 'cpu', 'cuda' or 'mps' is needed.")
    try:
        import torch
        from array_api_compat import torch as xp
    except ImportError as error:
        raise ValueError(missing(f"device {device!r}", error)) from error
    try:
        torch.empty(0, device=device)
    except (AssertionError, RuntimeError) as error:  # as PyTorch was built or not
        raise ValueError(
            f"device is {device!r}, but PyTorch {torch.__version__} finds no such "
            "device here."
        ) from error
    return xp, torch.device(device)


def missing(what: str, error: ImportError) -> str:
    """Say which library is missing, and how to install it."""
    names = {"torch": "PyTorch", "array_api_compat": "array-api-compat"}
    library = (error.name or "torch").split(".", maxsplit=1)[0]
    needed = f"{what} needs {names.get(library, library)}"
    if isinstance(error, ModuleNotFoundError):
        return f"{needed}, which is not installed: pip install 'groundmetric[gpu]'."
    return f"{needed}, which is installed but cannot be imported: {error}."


@contextmanager
def full_device_in_words(n_pairs: int, d: int) -> Iterator[None]:
    """Say in a sentence that a device's memory is full."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if type(error).__name__ != "OutOfMemoryError":
            raise
        raise MemoryError(
            f"The device's memory is too small for {n_pairs} pairs of histograms with "
            f"{d} bins; give fewer histograms at a time (fits: batch_size), or choose "
            "dtype='float32'."
        ) from error
