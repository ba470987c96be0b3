"""Optional packages: asked for before anything is computed, not where they are used."""

from collections.abc import Iterable
from importlib.util import find_spec

# What pip calls the modules.
PACKAGES = {
    "matplotlib": "matplotlib",
    "metric_learn": "metric-learn",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
}
RESULTS = ("pandas", "pyarrow")  # reading them
DRAWING = (*RESULTS, "matplotlib")


def require_installed(modules: Iterable[str], command: str) -> None:
    """Say which packages are missing, and how to get them."""
    missing = [PACKAGES[m] for m in dict.fromkeys(modules) if find_spec(m) is None]
    if missing:
        raise ImportError(
            f"groundmetric {command} needs {' and '.join(missing)} for this: "
            "pip install 'groundmetric[cli,experiments]'."
        )


def needed_by(methods: Iterable[str]) -> set[str]:
    """Modules that methods learn with."""
    learners = ("lmnn", "itml")
    return {"metric_learn" for name in methods if name.startswith(learners)}
