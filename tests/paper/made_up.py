"""Results of experiments that never took place."""

import numpy as np
import pandas as pd


def frame(curves, *, classes=None, recall=None, experiment="made-up", svm_error=None):
    """Results from {method: list over tasks of k-NN errors by kappa}.

    Recall is what the errors leave, unless given in the same manner. Classes are
    first | second, two second ones for each first one, unless given.
    """
    rows = []
    for method, tasks in curves.items():
        for task, errors in enumerate(tasks):
            if errors is None:  # not done
                continue
            if classes is None:
                of_task = f"first{task // 2} | second{task % 2}"
            else:
                of_task = classes[task]
            rows.append(
                {
                    "experiment": experiment,
                    "task": task,
                    "classes": of_task,
                    "method": method,
                    "seed": 0,
                    "n_train": 60,
                    "n_test": 80,
                    "knn_errors": list(errors),
                    "recall": (
                        [1 - error for error in errors]
                        if recall is None
                        else list(recall[method][task])
                    ),
                    "svm_error": None if svm_error is None else svm_error[method],
                    "fit_seconds": 0.5,
                    "seconds": 2.0,
                    "settings": "{}",
                    "version": "0.1.0",
                }
            )
    return pd.DataFrame(rows)


def plausible(methods, *, n_classes=4, n_kappas=20, seed=0):
    """Curves as they look in the paper, for n_classes x n_classes tasks."""
    rng = np.random.default_rng(seed)
    n_tasks = n_classes**2
    kappas = np.arange(1, n_kappas + 1)
    hardness = rng.beta(2, 6, (n_tasks, 1))
    curves = {}
    for rank, method in enumerate(methods):
        slope = 0.001 * (1 + rank) * (kappas - 3)
        noise = rng.normal(0, 0.02, (n_tasks, 1)) + rng.normal(
            0, 0.01, (n_tasks, n_kappas)
        )
        curve = hardness * (1 + 0.1 * rank) + 0.05 / kappas + slope + noise
        curves[method] = np.round(np.clip(curve, 0, 0.6) * 80) / 80
    classes = [
        f"left{task // n_classes} | right{task % n_classes}" for task in range(n_tasks)
    ]
    svm = {method: 0.08 + 0.01 * rank for rank, method in enumerate(methods)}
    return frame(curves, classes=classes, svm_error=svm)
