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


def duration(seconds: float) -> str:
    """Write a rough time: "a second", "40 seconds", "3 minutes", "2 hours"."""
    for unit, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.0f} {name}"
    if round(seconds, -1) >= 60:  # noqa: PLR2004 - a minute
        return "a minute"
    whole = round(seconds, -1 if seconds >= 10 else 0)  # noqa: PLR2004 - one digit
    return f"{whole:.0f} seconds" if whole > 1 else "a second"


def printable(text: str) -> str:
    """Spell out bytes of file names that are not UTF-8, which no file could hold."""
    return text.encode("utf-8", "backslashreplace").decode()
