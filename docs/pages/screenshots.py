"""Pictures of a report for the documentation: ``make screenshots``; needs Chromium."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from selenium import webdriver

from groundmetric.datasets import load_digits_histograms
from groundmetric.report import write_report

DOCS = Path(__file__).parents[1]
N = 120  # images in the report
# Width and height in pixels, and the theme.
LOOKS = {"report-wide": (1400, 1330, "light"), "report-narrow": (400, 1330, "dark")}


def main() -> None:
    """Write a report on digits, and take pictures of it."""
    data = load_digits_histograms([3, 5, 8])
    rows = np.random.default_rng(0).permutation(len(data.y))[:N]
    with TemporaryDirectory() as folder:
        page = write_report(
            Path(folder) / "report.html",
            X=data.X[rows],
            y=data.y[rows],
            feature_shape=data.feature_shape,
            title="Handwritten digits",
            n_jobs=-1,
        )
        browser = _browser()
        for name, look in LOOKS.items():
            _take(browser, page, DOCS / f"{name}.png", *look)
        browser.quit()


def _browser() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for flag in ("headless", "no-sandbox", "disable-gpu", "hide-scrollbars"):
        options.add_argument(f"--{flag}")
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def _take(
    browser: webdriver.Chrome, page: Path, target: Path, *look: int | str
) -> None:
    width, height, theme = look
    feature = {"name": "prefers-color-scheme", "value": theme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    browser.find_element("css selector", "html[data-ready=true]")
    browser.save_screenshot(str(target))


if __name__ == "__main__":
    main()
