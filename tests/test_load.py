"""A short form of ``make load``."""

import re
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_nothing_grows(capsys):
    load = pytest.importorskip("load")
    assert load.main(300, 20) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["90,000 pairs", "20 fits"]
    assert all(re.search(r"threads (\d+) -> \1, files (\d+) -> \2$", s) for s in lines)


def test_growth_is_noticed(tmp_path):
    load = pytest.importorskip("load")
    watch, kept, files = load.Watch(), [], []
    for k in range(20):
        kept.append(bytearray(b"x" * 10_000_000))
        files.append((tmp_path / str(k)).open("w"))
        watch((k + 1) / 20)
    for file in files:
        file.close()
    memory, opened = watch.problems()
    assert memory.startswith("memory grew by ")
    assert opened.startswith("n_files grew from ")
