"""What is written outside the code agrees with it."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import groundmetric as gm

ROOT = Path(__file__).parents[1]


def test_readme_prints_what_it_says():
    text = (ROOT / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    printed = re.search(r"```text\n(.*?)```", text, re.DOTALL).group(1)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, {})  # noqa: S102 - our own text
    number = r"\d+\.\d+"
    assert re.sub(number, "#", out.getvalue()) == re.sub(number, "#", printed)
    # One digit out of 321 more or less is a matter of the last bit.
    for said, is_so in zip(
        re.findall(number, printed), re.findall(number, out.getvalue()), strict=True
    ):
        assert float(is_so) == pytest.approx(float(said), abs=0.35)


def test_citation_names_the_version():
    assert f"\nversion: {gm.__version__}\n" in (ROOT / "CITATION.cff").read_text()
