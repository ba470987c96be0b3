"""Turn a folder of images into labeled histograms.

Run it with

    python examples/images.py FOLDER FILE.npz

where FOLDER has one sub-folder a class. FILE then has arrays X (GIST histograms in
rows) and y (labels), which the other examples read. Without arguments, it makes a tiny
folder of stripes of its own, to show what comes out.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from groundmetric.datasets import load_image_folder


def make_stripes(root: Path) -> None:
    """Draw noisy stripes: a class that lies, and one that stands."""
    rng = np.random.default_rng(0)
    for name, axis in [("lying", 0), ("standing", 1)]:
        (root / name).mkdir()
        for k in range(5):
            waves = 100 * np.sin(np.indices((64, 64))[axis] * 0.5 + k)
            noisy = np.clip(128 + waves + 20 * rng.normal(size=(64, 64)), 0, 255)
            Image.fromarray(noisy.astype(np.uint8)).save(root / name / f"{k}.png")


def main() -> None:
    """Read, write, and print what was read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--cache", help="keep histograms here for the next time")
    parser.add_argument("--feature", choices=["gist", "color"], default="gist")
    parser.add_argument("--min-per-class", type=int, default=1)
    parser.add_argument("--max-per-class", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        if options.folder is None:
            make_stripes(Path(own))
        data = load_image_folder(
            options.folder or own,
            feature=options.feature,
            min_per_class=options.min_per_class,
            max_per_class=options.max_per_class,
            cache=options.cache,
            n_jobs=-1,
            verbose=int(options.folder is not None),
        )
    if options.file is not None:
        np.savez_compressed(options.file, X=data.X, y=data.y)
    print(f"{len(data.y)} histograms of {data.X.shape[1]} bins, {data.feature_shape}")
    for name in np.unique(data.y):
        mean = data.X[data.y == name].mean(axis=0).reshape(data.feature_shape[0], -1)
        shares = " ".join(f"{share:4.0%}" for share in mean.sum(axis=1))
        print(f"{name:>20}: {shares}")


if __name__ == "__main__":
    main()
