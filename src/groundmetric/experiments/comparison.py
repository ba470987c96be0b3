"""The table that ``compare`` returns, which also writes itself for papers.

Only ``compare`` imports this file, since it needs pandas.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from .design import TIE

__all__ = ["Comparison"]

# Characters that mean something to LaTeX.
ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


class Comparison(pd.DataFrame):
    r"""A data frame with a row for each method.

    Examples
    --------
    >>> from groundmetric.experiments import compare
    >>> X, y = 2 * [[4, 1, 0], [3, 2, 0], [0, 1, 4], [0, 2, 3]], 2 * list("aabb")
    >>> found = compare(X, y, methods=["l1", "l2"], n_folds=2, n_neighbors=1)
    >>> print(found.to_latex())
    \begin{tabular}{lrr}
    \toprule
    Method & Error (\%) & 95\,\% interval \\
    \midrule
    l1 & \textbf{0.0} & [0.0, 34.2] \\
    l2 & \textbf{0.0} & [0.0, 34.2] \\
    \bottomrule
    \end{tabular}
    """

    def to_latex(self) -> str:
        """Write a table with booktabs: errors in percent with intervals, best in bold.

        Predictors have a part of their own. If classes are unequal, balanced errors are
        there, too; with ``scoring``, scores.
        """
        return "\n".join(self._latex_lines())

    def _latex_lines(self) -> list[str]:
        kinds = {"score": ("Score", 1.0, 3, 1)} if "score" in self else {}
        kinds["error"] = (r"Error (\%)", 100.0, 1, -1)
        if self.attrs["is_unequal"]:
            kinds["balanced"] = (r"Balanced error (\%)", 100.0, 1, -1)
        titles = [f"{title} & 95\\,\\% interval" for title, *_ in kinds.values()]
        lines = [
            f"\\begin{{tabular}}{{l{'rr' * len(kinds)}}}",
            "\\toprule",
            f"Method & {' & '.join(titles)} \\\\",
        ]
        for part in ("distance", "predictor"):
            rows = self.loc[self["kind"] == part]
            lines += ["\\midrule"] if len(rows) else []
            for name, row in rows.iterrows():
                cells = [_escaped(self.attrs["labels"].get(name, str(name)))]
                for column, (_, unit, digits, sign) in kinds.items():
                    best = (sign * self[column]).max()
                    is_best = sign * row[column] >= best - TIE
                    cells += _cells(row, column, unit, digits, bold=is_best)
                lines.append(f"{' & '.join(cells)} \\\\")
        return [*lines, "\\bottomrule", "\\end{tabular}"]


def _cells(row: Any, column: str, unit: float, digits: int, *, bold: bool) -> list[str]:
    """Write a number and its interval."""
    prefix = "" if column == "error" else f"{column}_"
    low, high = unit * row[f"{prefix}low"], unit * row[f"{prefix}high"]
    value = f"{unit * row[column]:.{digits}f}"
    ends = "" if pd.isna(low) else f"[{low:.{digits}f}, {high:.{digits}f}]"
    return [f"\\textbf{{{value}}}" if bold else value, ends]


def _escaped(text: str) -> str:
    return "".join(ESCAPED.get(character, character) for character in text)
