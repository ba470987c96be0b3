"""``groundmetric demo``: learn from handwritten digits; needs no data."""

from pathlib import Path
from typing import Annotated

from ..report import _demo as digits
from ._command import command
from ._console import emit, note, print_table, shows_progress, tell
from ._options import Jobs, Json, Output


@command("groundmetric demo", "groundmetric demo --out digits.html --json")
def demo(
    *,
    out: Annotated[Path, Output((".html", ".htm"))] = Path("groundmetric-demo.html"),
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Learn from handwritten digits.

    Learns a metric between pixels from five images each of 3, 5 and 8, twenty times
    from different images; compares it with other distances, learned ones too, in a
    table of errors and a report. Takes about half a minute.

    Parameters
    ----------
    out
        The report to write, .html.
    """
    note(
        f"Learning what it costs to move ink between {digits.SIDE**2} pixels, from "
        f"{digits.N_EACH} images each of {', '.join(map(str, digits.DIGITS))}, in "
        f"{digits.N_SPLITS} training sets that have no image in common."
    )
    found, notes = digits.write_demo(out, n_jobs=jobs, progress=shows_progress())
    verdict = found.verdict
    if json:
        emit({**verdict.facts(), "notes": notes, "report": out})
        return
    print_table(["Distance", *verdict.columns()], verdict.rows())
    for text in [*verdict.sentences(), *notes, f"Report: {out}"]:
        tell(text)
