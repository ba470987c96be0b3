"""Colors, markers and lines of methods, the same in every figure.

Hues are those of Okabe and Ito, which suit all kinds of color vision. Bin-to-bin
distances, the baseline, are gray. Each learner has a hue or, for the EMD, each initial
metric; larger k are darker, and 20 steps are dash-dotted and hollow. Methods that do
not learn, or learn without square roots of histograms, are dashed and hollow. Markers
distinguish the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from zlib import crc32

from .methods import METHODS, PAPER

__all__ = ["Style", "label_of", "style_of"]

ORANGE, SKY, GREEN = "#e69f00", "#56b4e9", "#009e73"
BLUE, VERMILION, PURPLE = "#0072b2", "#d55e00", "#cc79a7"
STARTS = {"uniform": VERMILION, "independence": ORANGE, "typical": PURPLE}
LEARNERS = {"lmnn": (BLUE, "s"), "itml": (GREEN, "^"), "nca": (SKY, "v")}
# Methods without variants; bin-to-bin distances are gray.
SINGLE = {
    "l1": ("#000000", "o", "-"),
    "l2": ("#a0a0a0", "s", ":"),
    "hellinger": ("#606060", "D", "-"),
    "chi2": ("#808080", "^", "--"),
    "jensen_shannon": ("#808080", "v", "-."),
    "fisher": ("#a0a0a0", "P", "--"),
    "chi2-lmnn": (BLUE, "P", ":"),
    "lebanon": ("#404040", "X", "-."),
}
# Share of white (positive) or black (negative) in the hue, and the marker, for each k.
NEIGHBORS = {
    "1": (0.5, "v"),
    "3": (0.0, "o"),
    "5": (-0.25, "s"),
    "10": (-0.45, "D"),
    "all": (-0.65, "^"),
}
# The same, and the width, for the learner with its defaults, by criterion.
DEFAULTS = {
    "gml": (0.0, "*", 2.2),
    "gml-cv": (-0.3, "P", 1.7),
    "gml-neighborhood": (0.35, "X", 1.7),
    "gml-smoothed": (-0.55, "h", 1.7),
}
GML = re.compile(
    rf"gml(?P<paper>-paper)?-k(?P<k>{'|'.join(NEIGHBORS)})-(?P<start>{'|'.join(STARTS)})"
)
EMD = re.compile(r"(?P<kind>emd|start)-(?P<start>\w+)(?P<norm>-l1|-polytope|)")
NOT_LEARNED = {
    "emd": "d",
    "emd-l1": "<",
    "emd-polytope": ">",
    "start": "p",
    "start-l1": "H",
    "start-polytope": "8",
}


@dataclass(frozen=True)
class Style:
    """Color, marker and line of a method.

    Examples
    --------
    >>> from paper.style import style_of
    >>> style_of("lmnn").color == style_of("lmnn-hellinger").color
    True
    >>> style_of("lmnn").hollow, style_of("lmnn-hellinger").hollow
    (True, False)
    """

    color: str
    marker: str
    line: str = "-"
    width: float = 1.0
    hollow: bool = False


def label_of(method: str) -> str:
    """Label of a method in figures; unknown methods keep their name.

    Examples
    --------
    >>> from paper.style import label_of
    >>> label_of("hellinger"), label_of("my-own")
    ('Hellinger', 'my-own')
    """
    return METHODS[method].label if method in METHODS else method


def style_of(method: str) -> Style:
    """Look up the style of a method; unknown methods get one by their name.

    Examples
    --------
    >>> from paper.style import style_of
    >>> style_of("gml").color, style_of("l1").color
    ('#d55e00', '#000000')
    """
    if method in SINGLE:
        color, marker, line = SINGLE[method]
        return Style(color, marker, line)
    learner, _, root = method.partition("-")
    if learner in LEARNERS:
        color, marker = LEARNERS[learner]
        return Style(color, marker, "-" if root else "--", hollow=not root)
    if (found := EMD.fullmatch(method)) and found["start"] in STARTS:
        marker = NOT_LEARNED[found["kind"] + found["norm"]]
        return Style(STARTS[found["start"]], marker, "--", hollow=True)
    if method in DEFAULTS:
        share, marker, width = DEFAULTS[method]
        return Style(_mixed(STARTS["uniform"], share), marker, width=width)
    # One method has two names.
    if found := GML.fullmatch(f"{PAPER}-k3-typical" if method == PAPER else method):
        share, marker = NEIGHBORS[found["k"]]
        color = _mixed(STARTS[found["start"]], share)
        few = found["paper"] is None
        return Style(color, marker, *(("-.", 1.2, True) if few else ("-", 1.7)))
    # Not hash(), which differs in every run.
    number = crc32(method.encode())
    hues, markers = (ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE), "Phd<>*p"
    return Style(hues[number % len(hues)], markers[number % len(markers)], "-.")


def _mixed(color: str, share: float) -> str:
    """Mix a hue with white, or with black if the share is negative."""
    target = 255 if share > 0 else 0
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    mixed = (round(part + abs(share) * (target - part)) for part in parts)
    return "#" + "".join(f"{part:02x}" for part in mixed)
