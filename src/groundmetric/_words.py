"""How numbers are written for people: in the command, in reports and in warnings."""


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return f"{100 * share:.1f} %"


def points(share: float) -> str:
    """Write a difference of shares in percentage points, with a sign; no -0.0."""
    value = round(100 * share, 1)
    return f"{value:+.1f}" if value else "0.0"


def count(n: int, what: str, many: str | None = None) -> str:
    """Write a number of things."""
    return f"{n:,} {what if n == 1 else many or what + 's'}"


def printable(text: str) -> str:
    """Spell out bytes of file names that are not UTF-8, which no file could hold."""
    return text.encode("utf-8", "backslashreplace").decode()
