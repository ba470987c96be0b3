"""The rooms of the C++ core: what may include what, and what their READMEs list."""

import re
from pathlib import Path

CPP = Path(__file__).parents[1] / "cpp"
ROOMS = {room.name: room for room in CPP.iterdir() if room.is_dir()}
# What a room may include besides itself.
BELOW = {
    "base": set(),
    "transport": {"base"},
    "hub": {"base", "transport"},
    "sparse": {"base", "transport"},
    "batch": {"base", "transport", "hub", "sparse"},
    "search": {"base", "transport", "hub", "sparse", "batch"},
    "cone": {"base"},
    "tables": {"base"},
}
BELOW["bindings"] = set(BELOW)
QUOTED = re.compile(r"`([^`\s]+)`")


def sources(room):
    return [*room.glob("*.h"), *room.glob("*.cpp")]


def test_rooms_include_only_rooms_below():
    assert set(ROOMS) == set(BELOW)
    for name, room in ROOMS.items():
        for path in sources(room):
            included = re.findall(r'#include "([^"]+)"', path.read_text())
            rooms = {Path(header).parent.name for header in included}
            assert rooms <= BELOW[name] | {name}, path
            assert all((CPP / header).exists() for header in included), path


def test_a_readme_lists_the_files_of_its_room():
    for room in ROOMS.values():
        text = (room / "README.md").read_text()
        rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        listed = [name for row in rows for name in QUOTED.findall(row)]
        assert len(listed) == len(set(listed))
        missing = {path.stem for path in sources(room)} - set(listed)
        # What stands in for a feature of compilers is named beside `portable`.
        assert missing <= {"int128", "packs"}
        assert set(listed) <= {path.stem for path in sources(room)}


def test_files_that_readmes_name_exist():
    for readme in (CPP / "README.md", *CPP.glob("*/README.md")):
        named = {
            word
            for word in QUOTED.findall(readme.read_text())
            if "/" in word or word.endswith((".h", ".cpp"))
        }
        for word in named:
            places = [CPP / word, CPP.parent / word, readme.parent / word]
            found = [place for place in places if place.exists()]
            stems = [*CPP.glob(f"{word}.h"), *CPP.glob(f"{word}.cpp")]
            assert found or stems, (readme, word)
