"""Optional packages, checked for before anything is computed."""

from collections.abc import Iterable
from importlib.util import find_spec

RESULTS = ("pandas", "pyarrow")  # to read them
DRAWING = (*RESULTS, "matplotlib")


def require_installed(modules: Iterable[str], command: str) -> None:
    """Name the packages that are missing, and how to install them."""
    missing = [m.replace("_", "-") for m in modules if find_spec(m) is None]
    if missing:
        raise ImportError(
            f"groundmetric {command} needs {' and '.join(missing)} for this: "
            "pip install 'groundmetric[cli,experiments]'."
        )


def needed_by(methods: Iterable[str]) -> set[str]:
    """Return the modules that methods learn with."""
    return {"metric_learn" for name in methods if name.startswith(("lmnn", "itml"))}
