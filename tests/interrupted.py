"""Run the command, and send it a signal before its fourth step of a descent.

``python interrupted.py SIGINT fit data.csv ...``; without a signal: ``none``.
"""

import os
import signal
import sys

from groundmetric.cli import main
from groundmetric.learning import _descent

STEPS = 3
take_step = _descent.Descent._step


def interrupted(run, *args):
    if len(run.path) == STEPS:
        os.kill(os.getpid(), getattr(signal, name))
    return take_step(run, *args)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background
    name = sys.argv.pop(1)
    if name != "none":
        _descent.Descent._step = interrupted
    main()
