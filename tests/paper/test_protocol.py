"""Which classes and which rows a task has."""

import numpy as np
import pytest

from paper import Task, binary_tasks, multiclass_tasks

Y = np.repeat(list("abcdef"), [7, 8, 9, 10, 11, 12])[::-1]


def same(one, two):
    return (
        (one.index, one.seed, one.classes) == (two.index, two.seed, two.classes)
        and np.array_equal(one.train, two.train)
        and np.array_equal(one.test, two.test)
    )


def test_binary_tasks_are_all_pairs_of_two_halves():
    tasks = binary_tasks(Y, n_classes=2, seed=4, n_train=5, n_test=4)
    assert [task.index for task in tasks] == [0, 1, 2, 3]
    first = [task.classes[0] for task in tasks]
    second = [task.classes[1] for task in tasks]
    assert first[0] == first[1] != first[2] == first[3]
    assert second[:2] == second[2:]
    assert len({*first, *second}) == 4
    assert all(task.seed == 4 for task in tasks)


@pytest.mark.parametrize("tasks", [
    binary_tasks(Y, n_train=5, n_test=4),
    multiclass_tasks(Y, n_classes=4, n_tasks=3, n_train=5, n_test=4),
])  # fmt: skip
def test_sizes_and_disjoint_rows(tasks):
    members = {label: int((label == Y).sum()) for label in "abcdef"}
    for task in tasks:
        assert isinstance(task, Task)
        assert np.unique([*task.train, *task.test]).size == (
            task.train.size + task.test.size
        )
        for label in task.classes:
            assert (Y[task.train] == label).sum() == 5
            assert (Y[task.test] == label).sum() == min(4, members[label] - 5)
        assert set(Y[task.train]) == set(Y[task.test]) == set(task.classes)


def test_the_papers_numbers():
    tasks = binary_tasks(np.repeat(np.arange(50), 70), n_classes=25)
    assert len(tasks) == 625
    assert {(len(task.train), len(task.test)) for task in tasks} == {(60, 80)}
    assert all(type(label) is int for task in tasks for label in task.classes)


def test_a_seed_determines_tasks_and_another_draws_others():
    draw = {"n_classes": 3, "n_train": 5}
    ours, again = binary_tasks(Y, **draw), binary_tasks(Y.tolist(), **draw)
    assert all(map(same, ours, again))
    others = binary_tasks(Y, seed=1, **draw)
    assert not any(map(same, ours, others))
    # Two tasks with a class in common draw its rows independently.
    assert ours[0].classes[0] == ours[1].classes[0]
    assert set(ours[0].train[:5]) != set(ours[1].train[:5])


def test_a_task_does_not_depend_on_the_others():
    halves = (["a", "b"], ["c", "d"])
    whole = binary_tasks(Y, halves=halves, n_train=5)
    assert [task.name for task in whole] == ["a | c", "a | d", "b | c", "b | d"]
    fewer = binary_tasks(Y, halves=(["a"], ["c", "d"]), n_train=5)
    assert all(map(same, fewer, whole))
    many = multiclass_tasks(Y, n_classes=3, n_tasks=4, n_train=5)
    few = multiclass_tasks(Y, n_classes=3, n_tasks=2, n_train=5)
    assert len(many) == 4
    assert all(map(same, few, many))
    assert len({task.classes for task in many}) > 1


def test_draws_among_given_classes_only():
    tasks = binary_tasks(Y, classes=["f", "b"], n_train=7)
    assert [sorted(task.classes) for task in tasks] == [["b", "f"]]
    (task,) = multiclass_tasks(Y, n_classes=3, classes="bdf", n_train=7)
    assert sorted(task.classes) == ["b", "d", "f"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_train": 8}, "y has 7 members of class 'a'; at least 9 are needed, 8 to "),
        ({"n_classes": 4}, "n_classes is 4, but there are 6 classes: at most 3 "),
        ({"n_classes": 0}, "n_classes is 0"),
        ({"classes": ["a"]}, "n_classes is 0"),
        ({"classes": ["a", "z"]}, "classes has 'z', which is not a label in y"),
        ({"classes": ["a", "b", "a"]}, "classes has 'a' twice"),
        ({"halves": (["a"], ["a"])}, "halves has 'a' twice"),
        ({"halves": (["a"], [])}, "halves has an empty half"),
        ({"halves": (["a"], ["b"], ["c"])}, "halves has 3 parts; two are needed"),
        ({"halves": (["a"],)}, "halves has 1 parts; two are needed"),
        ({"halves": (["a"], ["b"]), "n_classes": 1}, "halves cannot be combined with"),
        ({"seed": -1}, "seed is -1"),
        ({"n_test": 0}, "n_test is 0"),
        ({"y": [[1, 2]]}, "y has shape"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        binary_tasks(**({"y": Y, "n_train": 5} | options))


def test_bad_input_of_many_classes():
    with pytest.raises(ValueError, match="n_classes is 7; it must be at most 6"):
        multiclass_tasks(Y, n_classes=7, n_train=5)
    with pytest.raises(ValueError, match="n_tasks is 0"):
        multiclass_tasks(Y, n_classes=2, n_tasks=0, n_train=5)
