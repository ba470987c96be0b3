"""The core is standard C++, but for what ``portable.h`` names and replaces."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CPP = Path(__file__).parents[1] / "cpp"
SOURCES = sorted([*CPP.rglob("*.h"), *CPP.rglob("*.cpp")])
KERNELS = ["kernels", "point_kernels", "smooth_kernels", "typical_kernels"]
EXTENSIONS = re.compile(
    r"__(?:int128|builtin_\w+|attribute__|GNUC__|clang__|restrict)|_MSC_VER|#pragma GCC"
)
# Files with both branches, and the check of the CPU, compiled for x86-64 only.
ALLOWED = {"dispatch.cpp", "masses.h", "portable.h", "smooth_kernels.cpp", "vectors.h"}
CLANG = shutil.which("clang++")


def code_of(path):
    return re.sub(r"//.*", "", path.read_text(encoding="utf-8"))


def test_extensions_of_compilers_stay_in_a_few_files():
    found = {path.name: set(EXTENSIONS.findall(code_of(path))) for path in SOURCES}
    strange = {name: words for name, words in found.items() if words}
    assert {name: strange[name] for name in strange.keys() - ALLOWED} == {}
    assert strange  # or the expression finds nothing


def test_long_has_32_bits_on_windows():
    plain = re.compile(r"(?<!long )\blong\b(?! long)")
    assert plain.search("unsigned long n")
    assert [path.name for path in SOURCES if plain.search(code_of(path))] == []


@pytest.mark.skipif(CLANG is None, reason="needs clang++")
@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("i386-linux-gnu", "groundmetric supports 64-bit machines only"),
        ("s390x-linux-gnu", "groundmetric supports little-endian machines only"),
        ("arm64-apple-darwin", None),
        ("aarch64-linux-gnu", None),
    ],
)
def test_machines(target, sentence):
    """Kernels need no headers of the machine, so any compiler can look at them."""
    for name in KERNELS:
        line = [CLANG, f"--target={target}", "-std=c++20", "-stdlib=libc++"]
        line += ["-fsyntax-only", "-Wall", "-DGM_ISA=baseline", f"-I{CPP}"]
        done = subprocess.run(
            [*line, CPP / "base" / f"{name}.cpp"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (sentence or "") in done.stderr
        assert sentence or "warning" not in done.stderr
        assert (done.returncode == 0) == (sentence is None), done.stderr
