"""Checkpoints: a file from which a killed descent resumes."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _files, validation
from .._warnings import warn

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    import numpy as np
    from numpy.typing import NDArray

    from ._descent import Descent

KIND = "checkpoint"


class Checkpoint:
    """A callback that saves a fit, so that it can resume after a kill or Ctrl-C.

    Give it to a learner as ``callbacks=[Checkpoint("fit.npz")]``. If the fit is killed
    or interrupted, the next fit with the same data and parameters resumes from the file
    and, on the same machine, gives the identical metric. The file is removed when the
    fit has ended.

    Parameters
    ----------
    path : path-like
        The file.
    seconds : float, default=60
        How often to write it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groundmetric import Checkpoint, GroundMetricLearning
    >>> path = Path(tempfile.mkdtemp()) / "fit.npz"
    >>> learner = GroundMetricLearning(callbacks=[Checkpoint(path, seconds=10)])
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner.fit(X, [0, 0, 1, 1]).n_iter_ > 0
    True
    >>> path.exists()
    False
    """

    def __init__(self, path: _files.StrPath, seconds: float = 60.0) -> None:
        self.path = path
        self.seconds = seconds

    def __repr__(self) -> str:
        return f"Checkpoint({os.fspath(self.path)!r}, seconds={self.seconds!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checkpoint) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.path, self.seconds))

    def _require_writable(self) -> None:
        """Reject a path that cannot be written, before any work is done."""
        if not isinstance(self.path, (str, os.PathLike)):
            raise ValueError(
                f"the path of Checkpoint is {self.path!r}; that of a file is needed."
            )
        validation.as_number(self.seconds, "seconds", low=0.0)
        _files.require_writable(Path(self.path), "checkpoint")

    def _file(self, identity: str) -> StateFile:
        """Open the file for one descent."""
        return StateFile(self.path, self.seconds, identity)


class StateFile:
    """The state of one descent, written now and then, and when it is interrupted.

    A context manager around the steps: the file is removed when they have ended, and
    has the last whole step if anything, such as Ctrl-C, ends them early.

    Parameters
    ----------
    path : path-like
        The file.
    seconds : float
        Write it that often.
    identity : str
        What the descent depends on, see :func:`identify`; a file with another identity
        is rejected, not overwritten.
    """

    def __init__(self, path: _files.StrPath, seconds: float, identity: str) -> None:
        self._path = _files.target_of(Path(path))
        self._seconds = seconds
        self._identity = identity
        self._written = time.monotonic()
        self._state: _files.Arrays | None = None
        self._warned = False

    def __enter__(self) -> StateFile:  # noqa: PYI034 - Self: 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.remove()
        else:
            self.write()

    def resume(self, set_state: Callable[[_files.Arrays], None]) -> None:
        """Pass on the state in the file, if there is one."""
        if not self._path.exists():
            return
        facts, arrays = _files.read(self._path, KIND)
        if facts.get("identity") != self._identity:
            raise ValueError(
                f"{self._path} is the checkpoint of a fit with other data, parameters "
                "or another version of groundmetric; remove it, or choose another file."
            )
        try:
            set_state(arrays)
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(f"{self._path} cannot be resumed: {error}.") from error

    def __call__(self, descent: Descent) -> None:
        """Keep the state after a step, and write it if it is time."""
        self._state = descent.state()  # takes a hundredth of a step
        if time.monotonic() - self._written >= self._seconds:
            self.write()

    def write(self) -> None:
        """Write what was kept, whole or not at all; a failure must not end the fit."""
        if self._state is None:
            return
        facts = {"identity": self._identity}
        try:
            _files.write(self._path, KIND, facts, self._state)
        except OSError as error:
            self._warn(f"cannot be written ({error.strerror}); the fit continues")
        self._written = time.monotonic()

    def remove(self) -> None:
        """Remove the file of a descent that has ended."""
        try:
            self._path.unlink(missing_ok=True)
            _files.part_of(self._path).unlink(missing_ok=True)
        except OSError as error:
            self._warn(f"is no longer needed, but cannot be removed ({error.strerror})")

    def _warn(self, trouble: str) -> None:
        if not self._warned:
            self._warned = True
            warn(f"The checkpoint {self._path} {trouble}.")


def identify(*parts: NDArray[np.float64] | str) -> str:
    """Make a fingerprint of arrays and strings."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part.tobytes()
        digest.update(f"{len(data)} ".encode())
        digest.update(data)
    return digest.hexdigest()
