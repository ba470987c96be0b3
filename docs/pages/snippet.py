from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
import groundmetric as gm
from groundmetric.datasets import load_digits_histograms

digits = load_digits_histograms([3, 5, 8])  # histograms of ink over 64 pixels
splits = StratifiedShuffleSplit(20, train_size=15, test_size=250, random_state=0)
knn = KNeighborsClassifier(n_neighbors=3, metric="l1")
for name, model in {"l1": knn, "learned": gm.EMDClassifier(n_neighbors=3)}.items():
    errors = 1 - cross_val_score(model, digits.X, digits.y, cv=splits)
    print(f"{name:8s}{errors.mean():.1%} errors, std. dev. {errors.std(ddof=1):.1%}")
