"""Check an installed wheel; run by ``make wheel`` in an otherwise empty environment."""

import subprocess
import sys
from pathlib import Path

import groundmetric as gm
from groundmetric import _core
from groundmetric.report import write_report

LIMIT = 5_000_000

wheel = Path(sys.argv[1])
core = Path(_core.__file__)
sections = core.read_bytes()
assert wheel.stat().st_size < LIMIT, "the wheel is too large"
assert b".debug_info" not in sections, "the compiled module is not stripped"
assert b".symtab" not in sections, "the compiled module is not stripped"
line = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
assert gm.emd([3, 1, 0], [1, 1, 2], line) == 4.0
assert "site-packages" in gm.__file__
# The report's page travels with the package, and needs nothing optional.
X, y = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]], [0, 0, 1, 1]
report = write_report("report.html", X=X, y=y, X_test=X, y_test=y)
assert "Learning made no significant difference" in report.read_text(encoding="utf-8")
# So does the command, but for typer: one line says so.
command = Path(sys.executable).with_name("groundmetric")
run = subprocess.run([command], capture_output=True, text=True, check=False)  # noqa: S603
assert run.returncode == 2
needs = "error: the command needs typer and rich and pyarrow: "
assert run.stderr.splitlines() == [f"{needs}pip install 'groundmetric[cli]'"]
print(
    f"{wheel.name}: {wheel.stat().st_size / 1000:.0f} kB, stripped, installs and works "
    f"({_core.instruction_set()})"
)
