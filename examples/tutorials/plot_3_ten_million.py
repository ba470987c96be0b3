"""
"I only need ten million EMDs"
==============================

You have histograms and a ground metric, nothing to learn, and a loop over POT's
``ot.emd2`` that would run all night. This tutorial replaces the loop by one call, and
shows how to estimate its time in advance and how to write results to disk, so that a
crash costs nothing.
"""

# %%
# The loop
# --------
#
# Our histograms are digits, ink over 64 pixels, and moving ink costs the distance
# between pixels. All pairs of 4,473 histograms would be ten million; scikit-learn has
# 1,797 digits, so we time a sample and count the rest.

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import ot
from scipy.spatial.distance import cdist, squareform

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms

TEN_MILLION = 10_000_000
digits = load_digits_histograms()
X = np.random.default_rng(0).permutation(digits.X)
pixels = np.indices(digits.feature_shape).reshape(2, -1).T
M = cdist(pixels, pixels)


def hours(seconds, n_pairs):
    """Say how long ten million pairs take at this rate."""
    each = seconds / n_pairs
    return f"{1e6 * each:.0f} us a pair, {TEN_MILLION * each / 3600:.2f} hours in all"


A, B = X[:20], X[20:40]
start = time.process_time()
theirs = np.array([[ot.emd2(a, b, M) for b in B] for a in A])
loop = time.process_time() - start
print(f"ot.emd2 in a loop: {hours(loop, theirs.size)}")

# %%
# One call
# --------
#
# :func:`~groundmetric.pairwise_emd` computes the same distances. It is exact, too, and
# checks the input once instead of for every pair. The first sample is the loop's; the
# second is larger, for a better estimate. Times are those of one thread, on the machine
# that built this page; ``n_jobs=-1`` uses all of yours.

ours = gm.pairwise_emd(A, B, metric=M)
print(f"largest difference: {np.abs(ours - theirs).max():.0e}")

C = X[:200]
start = time.process_time()
gm.pairwise_emd(C, X[200:400], metric=M)
call = time.process_time() - start
print(f"pairwise_emd:      {hours(call, 200 * 200)}")
rates = {"ot.emd2 in a loop": loop / theirs.size, "pairwise_emd": call / 200**2}

_, ax = plt.subplots(figsize=(6, 1.8), layout="constrained")
bars = ax.barh(list(rates), [TEN_MILLION * rate / 60 for rate in rates.values()])
ax.bar_label(bars, fmt="%.0f min", padding=3)
ax.set_xlabel("ten million EMDs, minutes of one thread")
ax.margins(x=0.15)
ax.invert_yaxis()

# %%
# Less to compute, less to store
# ------------------------------
#
# Distances between the rows of one matrix are symmetric: ``condensed=True`` returns
# only those above the diagonal, as SciPy's ``pdist`` does, and ``dtype="float32"``
# halves them again. They are computed in double precision in any case.

full = gm.pairwise_emd(C, metric=M)
upper = gm.pairwise_emd(C, metric=M, condensed=True, dtype="float32")
print(full.nbytes, "bytes, or", upper.nbytes)
print("largest difference:", np.abs(squareform(upper) - full).max().round(8))
print(f"ten million in single precision: {4 * TEN_MILLION / 1e6:.0f} MB")

# %%
# On disk, and again after a crash
# --------------------------------
#
# With ``out``, distances are written to a ``.npy`` file, block by block, and memory
# does not grow with their number. A small file beside it says which blocks are done. To
# see what this is good for, we start a program that computes all distances between 700
# digits, and kill it after some blocks.

temporary = TemporaryDirectory()
folder = Path(temporary.name)
np.savez(folder / "input.npz", X=X[:700], M=M)
PROGRAM = """
import numpy as np, groundmetric as gm
data = np.load("input.npz")
gm.pairwise_emd(data["X"], metric=data["M"], out="distances.npy", dtype="float32")
"""
marks = folder / "distances.npy.blocks"


def n_done():
    """Count finished blocks: a checksum for each, after 32 bytes about the input."""
    if not marks.exists():
        return 0
    return np.count_nonzero(np.frombuffer(marks.read_bytes()[32:], np.uint32))


program = subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=folder)
while n_done() < 5 and program.poll() is None:
    time.sleep(0.01)
program.kill()
program.wait()
n_blocks = (len(marks.read_bytes()) - 32) // 4
print(f"killed after {n_done()} of {n_blocks} blocks")

# %%
# The same call resumes where the program stopped, here in this process. It returns a
# memory map of the file: index it as you would any array. ``verbose=1`` shows a
# progress bar with the time that is left.

D = gm.pairwise_emd(X[:700], metric=M, out=folder / "distances.npy", dtype="float32")
print(type(D).__name__, D.shape, D.dtype)
print("same as without a crash:", np.allclose(D[:20, 20:40], ours))
print("files:", sorted(path.name for path in folder.iterdir()))

# %%
# A file that was started with other histograms or another metric is rejected, so that
# it never holds a mixture of both.
#
# Do you need all of them?
# ------------------------
#
# If all distances serve to find neighbors, :class:`~groundmetric.EMDNeighbors` finds
# exactly the same ones and solves few of the pairs:

search = gm.EMDNeighbors(M, n_neighbors=5).fit(X[:700])
distances, indices = search.kneighbors()
print(f"{search.n_solves_ / 700**2:.1%} of the pairs")
order = np.argsort(D + np.diag(np.full(700, np.inf)), axis=1)[:, :5]
print("same distances:", np.allclose(distances, np.take_along_axis(D, order, axis=1)))
temporary.cleanup()

# %%
# Next: :doc:`/times` has times and memory for other sizes, :doc:`/scale` says how to
# use several machines, and :doc:`/migrating` lists the other calls of POT with ours.
