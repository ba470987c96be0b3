"""Train a small network whose last layer is an EMD to prototypes of classes.

Run it with

    python examples/layer.py

It needs PyTorch (pip install 'groundmetric[gpu]'), and takes seconds on a processor.
The network turns a handwritten digit into a histogram. Each class has a prototype, and
the nearer a prototype is in earth mover's distance, the likelier its class. Network,
prototypes and the points of the bins, which make the metric, are learned together.
"""

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

from groundmetric.torch import emd

N_BINS, N_COORDINATES, N_HIDDEN = 16, 3, 64
N_EPOCHS, BATCH_SIZE, RATE = 30, 100, 0.01


class Prototypes(nn.Module):
    """Minus the distances of histograms to a prototype for each class."""

    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.randn(n_classes, N_BINS))
        self.points = nn.Parameter(torch.randn(N_BINS, N_COORDINATES))
        self.scale = nn.Parameter(torch.tensor(5.0))

    def forward(self, histograms: Tensor) -> Tensor:
        """Return one number for each histogram and class."""
        prototypes = self.logits.softmax(dim=-1)
        distances = emd(histograms[:, None], prototypes, points=self.points, n_jobs=-1)
        return -self.scale * distances


def make_network(n_inputs: int, n_classes: int) -> nn.Module:
    """Make a layer of hidden units, a histogram, and the distances."""
    return nn.Sequential(
        nn.Linear(n_inputs, N_HIDDEN),
        nn.ReLU(),
        nn.Linear(N_HIDDEN, N_BINS),
        nn.Softmax(dim=-1),
        Prototypes(n_classes),
    )


def train(network: nn.Module, X: Tensor, y: Tensor) -> None:
    """Minimize the cross-entropy."""
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    for epoch in range(N_EPOCHS):
        total = 0.0
        for batch in torch.randperm(len(X)).split(BATCH_SIZE):
            loss = nn.functional.cross_entropy(network(X[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        if (epoch + 1) % 10 == 0:
            print(f"epoch {epoch + 1}: loss {total / len(X):.3f}")


def main() -> float:
    """Train on two thirds of the digits, and return the accuracy on the rest."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # enough for so small a network; distances take the others
    X, y = load_digits(return_X_y=True)
    parts = train_test_split(X / 16, y, test_size=1 / 3, stratify=y, random_state=0)
    X_train, X_test, y_train, y_test = (torch.tensor(part) for part in parts)
    network = make_network(X.shape[1], n_classes=10)
    train(network, X_train.float(), y_train)
    with torch.no_grad():
        found = network(X_test.float()).argmax(dim=1)
    accuracy = (found == y_test).double().mean().item()
    print(f"accuracy on {len(y_test)} new digits: {accuracy:.1%}")
    return accuracy


if __name__ == "__main__":
    main()
