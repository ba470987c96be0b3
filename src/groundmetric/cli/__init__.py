"""The ``groundmetric`` command: one file for each command.

Results go to standard output, everything else to standard error. Errors that users can
fix are one line, ``error: ...``, with exit code 2. Needs ``groundmetric[cli]``.
"""

import importlib.util
import sys

NEEDED = ("typer", "rich", "pyarrow")


def main() -> None:
    """Run the command, or say what it needs."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"error: the command needs {' and '.join(missing)}: "
            "pip install 'groundmetric[cli]'\n"
        )
        sys.exit(2)
    from ._app import app

    app(prog_name="groundmetric")
