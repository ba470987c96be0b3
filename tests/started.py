"""Other Python processes, for what is killed, interrupted or short of room.

Each would spend most of its time on imports. So one server imports what they need, and
each process is a fork of it; where there is no fork, each imports for itself.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path

IMPORTED = [
    "groundmetric.cli._app",
    "groundmetric.experiments",
    "groundmetric.learning",
    "groundmetric.neighbors",
    "groundmetric.smoothed",
    "distributed",  # for workers of test_cluster.py; not everywhere
]
SCRIPT = (
    "import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], {}, '__main__')"
)


def server():
    """Start the server that forks, unless it runs; return what starts processes."""
    from multiprocessing import forkserver  # not on Windows

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)  # of no effect if it runs
    forkserver.ensure_running()
    return context


def python(code, *arguments):
    """Run code in another process, which is like one that ``Popen`` starts."""
    arguments = [str(argument) for argument in arguments]
    if hasattr(os, "fork"):
        return Fork(code, arguments)
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(code, *arguments):
    """Run code in another process to its end; return exit code, output and errors."""
    process = python(code, *arguments)
    out, error = process.communicate()
    return process.returncode, out, error


class Fork:
    """A process that the server forks, with pipes for what it prints."""

    def __init__(self, code, arguments):
        context = server()
        pipes = [context.Pipe(duplex=False) for _ in range(2)]
        ends = [end for _, end in pipes]
        self._process = context.Process(
            target=_run, args=(code, arguments, Path.cwd(), *ends)
        )
        self._process.start()
        for end in ends:
            end.close()
        self.stdout, self.stderr = (
            os.fdopen(os.dup(pipe.fileno())) for pipe, _ in pipes
        )

    def communicate(self):
        """Read what is printed until the process ends."""
        with self.stdout, self.stderr:
            found = self.stdout.read(), self.stderr.read()
        self._process.join()
        return found

    def poll(self):
        """Return the exit code, if the process has ended."""
        return self._process.exitcode

    @property
    def returncode(self):
        """The exit code; the negative signal that ended the process."""
        return self._process.exitcode

    def send_signal(self, number):
        """Send a signal."""
        os.kill(self._process.pid, number)

    def kill(self):
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def _run(code, arguments, folder, out, error):
    """Do what ``python -c code arguments`` does in a folder."""
    for descriptor, end in ((1, out), (2, error)):
        os.dup2(end.fileno(), descriptor)
        end.close()
    sys.stdout, sys.stderr = (os.fdopen(k, "w", closefd=False) for k in (1, 2))
    sys.argv = ["-c", *arguments]
    os.chdir(folder)
    try:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102
    except KeyboardInterrupt:  # Python ends as by the signal
        traceback.print_exc()
        sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
