"""
Microbiomes: samples of patients, and which bacteria matter
===========================================================

You have a table of relative abundances: a row for each sample, a column for each genus,
several samples of each patient, and a taxonomy. Which patients are ill, and which
genera tell? This tutorial reads such a table, compares distances without dividing
patients, and names the genera that repeatedly matter. The table is made up, so that we
know the right answer.
"""

# %%
# A made-up table
# ---------------
#
# A hundred patients gave two samples each. There are 120 genera in 30 families and six
# phyla. As in real tables, a few genera make up most of a sample, most genera are rare,
# and patients differ more from each other than the samples of a patient do. Illness
# changes two families, each genus by another factor, from three to seven: all genera of
# B2 grow, all of D4 shrink.

import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import groundmetric as gm
from groundmetric.datasets import read_table
from groundmetric.experiments import Method, compare, stability
from groundmetric.plotting import ImportanceDisplay

N_PATIENTS, N_SAMPLES, N_READS = 100, 2, 5000
rng = np.random.default_rng(0)
genera = [
    f"{phylum}|{phylum}{family}|{phylum}{family}{genus}"
    for phylum in "ABCDEF"
    for family in range(1, 6)
    for genus in "abcd"
]
families = np.array([name.split("|")[1] for name in genera])
effect = np.zeros(len(genera))
effect[families == "B2"] = rng.uniform(1.2, 2.0, 4)  # grow
effect[families == "D4"] = -rng.uniform(1.2, 2.0, 4)  # shrink

common = rng.normal(0, 1.5, len(genera))  # logarithms of abundances
common[effect != 0] = 1.0  # neither rare nor dominant
rows = []
for patient in range(N_PATIENTS):
    ill = patient % 2
    own = common + rng.normal(0, 1.2, len(genera)) + ill * effect
    for sample in range(N_SAMPLES):
        logs = own + rng.normal(0, 0.5, len(genera))
        reads = rng.multinomial(N_READS, np.exp(logs) / np.exp(logs).sum())
        name, state = f"S{patient:03d}{'ab'[sample]}", ["healthy", "ill"][ill]
        rows.append([name, f"P{patient:03d}", state, *(reads / N_READS)])
table = pd.DataFrame(rows, columns=["sample", "patient", "state", *genera])
temporary = TemporaryDirectory()
path = Path(temporary.name) / "abundances.csv"
table.to_csv(path, index=False)
print(table.iloc[:3, :6].to_string(index=False))

# %%
# Read it
# -------
#
# :func:`~groundmetric.datasets.read_table` takes the columns by name. The patients are
# ``groups``, which never count as bins; ids stay with their samples.

data = read_table(path, id="sample", groups="patient", label="state")
temporary.cleanup()
print(data.X.shape, data.ids[:3], data.groups[:4], np.unique(data.y))
share = np.sort(data.X, axis=1)[:, ::-1].mean(axis=0)
print(f"the 10 largest genera of a sample have {share[:10].sum():.0%} of its mass")
print(f"{np.mean(data.X == 0):.0%} of all entries are zero")

# %%
# Points from the taxonomy
# ------------------------
#
# A taxonomy is knowledge about bins: genera of a family are near each other, those of a
# phylum less so. One column for each phylum, and one for each family, say that as
# coordinates.

levels = pd.DataFrame([name.split("|")[:2] for name in data.names])
taxonomy = pd.get_dummies(levels).to_numpy(float)
print("points:", taxonomy.shape)

# %%
# Compare, with patients kept together
# ------------------------------------
#
# :class:`~groundmetric.DiscriminantMetricLearning` learns in a closed form; logarithms,
# ``power="log1p"``, suit heavy tails. :class:`~groundmetric.AutoMetric` chooses the
# power and the learner itself, on folds of the training patients; it takes points,
# too, which would take longer here.
# :func:`~groundmetric.experiments.compare` takes the patients as ``groups``: no split
# divides a patient, and the intervals are over patients.

logs = gm.DiscriminantMetricLearning(power="log1p")
near = gm.DiscriminantMetricLearning(taxonomy, power="log1p")
methods = [
    "l1",
    "hellinger",
    Method.of(logs, "logarithms", "learned from logarithms"),
    Method.of(near, "taxonomy", "learned with the taxonomy"),
    Method.of(gm.AutoMetric(), "auto", "AutoMetric"),
    "logistic",
]
found = compare(data.X, data.y, groups=data.groups, methods=methods, n_neighbors=5)
print(textwrap.fill(found.attrs["design"], 80))
print("errors in %, with 95 % intervals")
print((100 * found[["error", "low", "high"]]).round(1))
print(textwrap.fill(found.attrs["verdict"], 80))

# %%
# What if we forget the patients? Then samples of a patient are on both sides of a
# split, and their nearest neighbors are the other samples of the same patient, whose
# label we know. Errors fall, but they say nothing about new patients.

leaky = compare(data.X, data.y, methods=methods[:4], n_neighbors=1)
apart = compare(data.X, data.y, groups=data.groups, methods=methods[:4], n_neighbors=1)
together = {"patients divided": leaky["error"], "kept together": apart["error"]}
print("errors of the nearest neighbor, %")
print((100 * pd.DataFrame(together)).round(1))

# %%
# Which genera matter?
# --------------------
#
# A single fit always has a genus that matters most, even if labels are random. So
# :func:`~groundmetric.experiments.stability` learns from many halves of the patients,
# and names a genus only if shuffling it repeatedly raises the errors on the other half.
# We look at the genera with five reads or more in the median sample; by default, it
# takes the 50 with most mass.

often = np.flatnonzero(np.median(data.X, axis=0) >= 5 / N_READS)
stable = stability(
    near,
    data.X,
    data.y,
    groups=data.groups,
    bins=often,
    n_draws=30,
    n_neighbors=5,
    max_tested=len(data.y),
    random_state=0,
)
print(f"{len(often)} genera, {stable.n_draws} draws")
named = [data.names[p] for p in stable.important]
print("matter:", ", ".join(named) or "none")
true = {genera[p] for p in np.flatnonzero(effect)}
print(f"{len(true & set(named))} of {len(true)} that were changed,", end=" ")
print(f"{len(set(named) - true)} others")
order = np.argsort([-rise.mean for rise in stable.rises])
first = {data.names[p] for p in often[order[:8]]}
print(f"of the 8 with the largest rise, {len(true & first)} were changed")

# %%
# What not to conclude
# --------------------
#
# - *That the other genera do not matter.* Genera that carry the same information stand
#   in for each other, so that shuffling one of them costs little. A genus that is not
#   named was not found with this many patients, no more.
# - *That a genus grows.* Shares sum to 1: if one genus grows, the shares of all others
#   fall, though their numbers are the same.
# - *That a genus makes people ill.* Illness, its treatment and diet all change what
#   grows, and a table of abundances cannot tell which came first.
# - *That errors on your data will be as small.* Here the changes were made large enough
#   to be found among a hundred patients.
#
# The picture shows the errors on new patients, and the genera that matter most.

_, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4), layout="constrained", width_ratios=[1, 1.2]
)
shown = found[::-1]
error = 100 * shown["error"]
ends = [error - 100 * shown["low"], 100 * shown["high"] - error]
left.barh(list(shown.index), error, xerr=ends, color="tab:orange", ecolor="gray")
left.axvline(100 * found.attrs["guessing"], color="black", lw=0.8, ls=":")
left.set_xlabel("errors on new patients, %\n(dotted: guessing)")
marked = [f"{name} *" if name in true else name for name in data.names]
ImportanceDisplay.from_stability(stable, names=marked, n_bins=14).plot(right)
right.set_title("* changed by illness")
