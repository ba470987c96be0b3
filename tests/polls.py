"""Polls of long calls, which tests count instead of seconds."""

from contextlib import contextmanager

from groundmetric import _core


@contextmanager
def every_check():
    """Let every check poll, not one in 50 ms."""
    before = _core.set_poll_interval(0)
    try:
        yield
    finally:
        _core.set_poll_interval(before)


def polls_of(call):
    """Return how often the call polls if every check does."""
    before = _core.n_polls()
    with every_check():
        call()
    return _core.n_polls() - before
