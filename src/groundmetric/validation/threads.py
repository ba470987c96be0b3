"""Number of threads."""

from __future__ import annotations

import numbers

from .places import spelled

# More threads never help, and each takes memory.
MOST_THREADS = 1024


def n_threads(n_jobs: int | None) -> int:
    """Convert n_jobs to a number of threads, as scikit-learn does.

    None is 1, or the setting of an enclosing ``joblib.parallel_config``; -1 is all
    processors, -2 all but one.
    """
    if n_jobs is not None and (
        not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool)
    ):
        raise ValueError(
            f"n_jobs is {spelled(n_jobs)}; None or a whole number is needed."
        )
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; use None or 1 for one thread, -1 for all.")
    if n_jobs == 1:
        return 1
    import joblib

    if n_jobs is None:
        n_jobs = joblib.parallel.get_active_backend()[1] or 1
    jobs = int(n_jobs)
    if jobs < 0:
        jobs = joblib.cpu_count() + 1 + jobs
    return min(max(jobs, 1), MOST_THREADS)
