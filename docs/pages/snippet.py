from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
import groundmetric as gm
from groundmetric.datasets import load_digits_histograms
from groundmetric.experiments import draw

digits = load_digits_histograms([3, 5, 8])  # histograms of ink over 64 pixels
splits = draw(digits.y, n_train=15, n_repeats=4).splits  # 20 sets of 5 + 5 + 5 images
knn = KNeighborsClassifier(n_neighbors=3, metric="l1")
for name, model in {"l1": knn, "learned": gm.EMDClassifier(n_neighbors=3)}.items():
    errors = 1 - cross_val_score(model, digits.X, digits.y, cv=splits)
    print(f"{name:8s}{errors.mean():.1%} errors, std. dev. {errors.std(ddof=1):.1%}")
