"""The report in a browser, headless Chromium: no error, and controls that work."""

import base64
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from groundmetric import DiscriminantMetricLearning, GroundMetricLearning
from groundmetric.cli._app import app
from groundmetric.report import _lesson, write_report
from groundmetric.report._bins import N_SHOWN

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not there")
from selenium.webdriver.common.keys import Keys  # noqa: E402 - after the check
from selenium.webdriver.support.select import Select  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-dev-shm-usage", "--window-size=1280,900",
]  # fmt: skip
EVIL = "<script>document.title='broken'</script>"

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="no chromium and chromedriver to try the report in"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=DRIVER)
    found = webdriver.Chrome(options=options, service=service)
    yield found
    found.quit()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Make a report on a 3 x 3 grid, where one class lies left and one right."""
    rng = np.random.default_rng(0)
    y = np.array(["left", EVIL] * 15)
    X = rng.random((30, 9)) ** 2 + 0.05
    X[y == "left", ::3] += 0.7
    X[y != "left", 2::3] += 0.7
    return write_report(
        tmp_path_factory.mktemp("report") / "r.html", X=X[:16], y=y[:16],
        X_test=X[16:], y_test=y[16:], feature_shape=(3, 3), title=EVIL,
        learner=GroundMetricLearning(init="typical", max_steps=8),
    )  # fmt: skip


@pytest.fixture
def page(browser, report):
    browser.get(report.as_uri())
    browser.find_element("css selector", "html[data-ready=true]")
    yield browser
    assert browser.get_log("browser") == []  # whatever was done


def by_id(page, name):
    return page.find_element("id", name)


def texts(page, selector):
    return [each.text for each in page.find_elements("css selector", selector)]


def background(page):
    return page.execute_script("return getComputedStyle(document.body).backgroundColor")


def is_blank(page, canvas):
    """Whether all pixels of a canvas have one color."""
    return page.execute_script(
        "const c = document.getElementById(arguments[0]), p = new Set(new Uint32Array("
        "c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer));"
        "return p.size < 2",
        canvas,
    )


def test_loads_and_draws_everything(page):
    assert page.title == EVIL  # as text; it did not run
    assert texts(page, "h1") == [EVIL]
    assert by_id(page, "headline").text.startswith("Learning ")
    for name in ("forest", "errors", "recall", "path"):
        assert page.find_elements("css selector", f"#{name} svg"), name
    assert not is_blank(page, "heatmap")
    assert len(page.find_elements("css selector", "#plane rect.place")) == 9
    assert EVIL in texts(page, "#matrix th")
    loaded = "return performance.getEntriesByType('resource').length"
    assert page.execute_script(loaded) == 0
    # No part is wider than the page.
    widths = "return [document.documentElement.scrollWidth, innerWidth]"
    assert page.execute_script(widths)[0] <= page.execute_script(widths)[1]


def test_choosing_a_feature_changes_the_lists(page):
    Select(by_id(page, "feature")).select_by_value("4")
    assert texts(page, ".chosen") == ["row 1, column 1"] * 2
    near = texts(page, "#nearest li")
    assert len(near) == 8
    assert not any("row 1, column 1" in each for each in near)
    Select(by_id(page, "feature")).select_by_value("0")
    assert texts(page, "#nearest li") != near
    # The list, the picture and its keys choose, too.
    first = page.find_element("css selector", "#nearest button")
    name = first.text.splitlines()[0]
    page.execute_script("arguments[0].click()", first)
    assert texts(page, ".chosen") == [name] * 2
    page.find_element("css selector", "[data-feature='8']").click()
    assert texts(page, ".chosen")[0] == "row 2, column 2"
    by_id(page, "plane").send_keys(Keys.ARROW_UP)
    assert texts(page, ".chosen")[0] == "row 1, column 2"


def test_distances_in_the_lists_are_those_of_the_metric(page):
    Select(by_id(page, "feature")).select_by_value("0")
    learned = [float(each.split("\n")[-1]) for each in texts(page, "#nearest li")]
    assert learned == sorted(learned)
    Select(by_id(page, "which")).select_by_value("initial")
    initial = [float(each.split("\n")[-1]) for each in texts(page, "#nearest li")]
    assert initial == sorted(initial) != learned
    Select(by_id(page, "scale")).select_by_value("rank")
    assert texts(page, ".colorbar") == ["closest\nfarthest"]


def test_picture_and_map_zoom_and_lines(page):
    by_id(page, "as-map").click()
    assert len(page.find_elements("css selector", "#plane circle.place")) == 9
    assert "stress 0." in by_id(page, "places-caption").text
    by_id(page, "connect").click()
    assert page.find_elements("css selector", "#plane line.pair")
    assert by_id(page, "plane").get_dom_attribute("viewBox") == "0 0 1 1"
    page.find_element("css selector", "#places [data-zoom=in]").click()
    x, y, *size = map(float, by_id(page, "plane").get_dom_attribute("viewBox").split())
    assert size == [0.6, 0.6]
    target = page.find_element("css selector", "#plane .target")  # stays in view
    assert x <= float(target.get_dom_attribute("cx")) <= x + 0.6
    assert y <= float(target.get_dom_attribute("cy")) <= y + 0.6
    page.find_element("css selector", "#places [data-zoom=all]").click()
    assert by_id(page, "plane").get_dom_attribute("viewBox") == "0 0 1 1"


def test_tip_tells_names_and_distance(page):
    heatmap = by_id(page, "heatmap")
    heatmap.send_keys(Keys.ARROW_RIGHT)
    tip = by_id(page, "tip")
    assert tip.is_displayed()
    assert tip.text.count("row ") == 2
    assert float(tip.text.partition("distance ")[2]) > 0.0
    by_id(page, "errors").find_element("css selector", "svg").send_keys(Keys.ARROW_LEFT)
    assert tip.text.startswith("1 neighbor\nlearned metric: ")


@pytest.fixture(scope="module")
def colors(tmp_path_factory):
    """Make a report on twelve features with names, where some are far from others."""
    rng = np.random.default_rng(1)
    y = np.array(["warm", "cold"] * 20)
    X = rng.dirichlet(np.ones(12), 40)
    X[y == "warm", :4] += 0.1
    X[y == "cold", 8:] += 0.1
    names = [f"color {name}" for name in "abcdefghijkl"]
    index = [f"photo{i}.png" for i in range(40)]
    return write_report(
        tmp_path_factory.mktemp("colors") / "r.html",
        X=pd.DataFrame(X, columns=names, index=index), y=y, n_folds=2, n_repeats=1,
        learners=["nca-hellinger"],
    )  # fmt: skip


@pytest.fixture(
    params=[(w, t) for w in (1400, 400) for t in ("light", "dark")], ids=str
)
def window(browser, request):
    """Set the width, and the theme."""
    width, theme = request.param
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    feature = {"name": "prefers-color-scheme", "value": theme}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    yield browser
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.get_log("browser") == []


@pytest.fixture
def seen(window, colors):
    """Open the report on colors."""
    window.get(colors.as_uri())
    window.find_element("css selector", "html[data-ready=true]")
    return window


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Make a report on a folder of images, wide and high ones, with GIST."""
    Image = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("photos")
    rng = np.random.default_rng(0)
    for name, step in (("across", (1, 4)), ("down", (4, 1))):
        (folder / name).mkdir()
        for i in range(12):
            size = (48, 64) if i % 2 else (64, 48)
            rows, columns = np.indices(size)
            waves = np.sin((step[0] * rows + step[1] * columns) / 4 + i)
            noisy = 128 + 8 * waves + rng.normal(0, 40, size)
            pixels = np.clip(noisy, 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{i}.png")
    page = tmp_path_factory.mktemp("page") / "r.html"
    line = ["report", str(folder), "--out", str(page), "--folds", "3", "--repeats", "1"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lesson, "N_DRAWS", 6)
        assert CliRunner().invoke(app, [*line, "--no-learners"]).exit_code == 0
    # Nothing repeats on images of noise: mark the cells of some features.
    text = page.read_text(encoding="utf-8")
    nothing, some = (
        f'"moved":{{"closest":{closest},"farthest":{farthest}}}'
        for closest, farthest in (("[]", "[]"), ("[[0,17],[34,51]]", "[[3,20]]"))
    )
    assert nothing in text
    page.write_text(text.replace(nothing, some), encoding="utf-8")
    return page


def test_cells_of_gist_are_on_the_images(window, photos):
    window.get(photos.as_uri())
    WebDriverWait(window, 30).until(
        lambda _: window.execute_script(
            "return document.querySelectorAll('.photo img').length > 0 &&"
            "document.querySelectorAll('.photo img').length ==="
            "document.querySelectorAll('.photo .cells').length"
        )
    )
    assert "moved closest together" in by_id(window, "cells").text
    outlines = window.execute_script(
        """
        return [...document.querySelectorAll(".photo")].map((photo) => {
          const image = photo.querySelector("img"), box = image.getBoundingClientRect();
          const { naturalWidth: w, naturalHeight: h } = image;
          const scale = Math.min(box.width / w, box.height / h);
          const left = box.left + (box.width - scale * w) / 2;
          const top = box.top + (box.height - scale * h) / 2;
          const bottom = top + scale * h, right = left + scale * w;
          const cells = [...photo.querySelectorAll(".cell")]
            .map((cell) => cell.getBoundingClientRect());
          const off = [
            Math.min(...cells.map((c) => c.left)) - left,
            Math.min(...cells.map((c) => c.top)) - top,
            Math.max(...cells.map((c) => c.right)) - right,
            Math.max(...cells.map((c) => c.bottom)) - bottom,
          ];
          const marked = (name) => photo.querySelectorAll("." + name).length;
          return [cells.length, Math.max(...off.map(Math.abs)), marked("closest"),
                  marked("farthest"), w > h];
        })
        """
    )
    assert {outline[0] for outline in outlines} == {16}
    assert max(outline[1] for outline in outlines) < 2  # pixels beside the image
    assert all(1 <= n <= 4 for outline in outlines for n in outline[2:4])
    assert {outline[4] for outline in outlines} == {True, False}  # wide and high


def test_nothing_in_lists_and_tables_is_cut_off(window, photos):
    """Names of edges are long, and a phone is narrow."""
    window.get(photos.as_uri())
    window.find_element("css selector", "html[data-ready=true]")
    boxes = window.execute_script(
        "return [...document.querySelectorAll("
        "'.ranks span:first-child, .verdict .scroll, pre')]"
        ".map((part) => [part.scrollWidth, part.clientWidth, part.textContent])"
    )
    assert sum(" edges, row " in name for _, _, name in boxes) == 16
    assert [name for wide, seen, name in boxes if wide > seen + 1] == []


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """Make a report on features of which the last three never occur."""
    X = np.random.default_rng(0).dirichlet(np.ones(9), 24)
    X[:, 6:] = 0
    X[::2, :3] *= 2
    names = [f"word {k}" for k in range(9)]
    return write_report(
        tmp_path_factory.mktemp("sparse") / "r.html",
        X=X, y=np.arange(24) % 2, feature_names=names, n_folds=2, n_repeats=1,
        learners=(),
    )  # fmt: skip


def test_features_that_are_always_empty_are_faint(browser, sparse):
    browser.get(sparse.as_uri())
    browser.find_element("css selector", "html[data-ready=true]")
    empty = browser.find_elements("css selector", "#plane circle.empty")
    assert {int(one.get_attribute("data-feature")) for one in empty} == {6, 7, 8}
    caption = by_id(browser, "places-caption").text
    assert "Faint features are empty in all training histograms." in caption
    named = [*texts(browser, "#plane text"), *texts(browser, ".ranks span:first-child")]
    assert named
    assert not {"word 6", "word 7", "word 8"} & set(named)


def test_text_of_charts_is_as_large_as_on_paper(seen):
    # In pixels of the screen, after the scaling of the pictures.
    sizes = seen.execute_script(
        "return [...document.querySelectorAll('svg text')].filter(t => t.textContent)"
        ".map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a)"
    )
    assert len(sizes) > 20
    assert min(sizes) >= 10.5
    # No part is wider than the page, and no name is cut off.
    assert seen.execute_script("return document.documentElement.scrollWidth") <= (
        seen.execute_script("return innerWidth")
    )
    wide = "const t = document.querySelector('.verdict .scroll');"
    assert seen.execute_script(f"{wide} return t.scrollWidth <= t.clientWidth")
    inside = seen.execute_script(
        """
        return [...document.querySelectorAll("#forest text")].every((text) => {
          const a = text.getBoundingClientRect();
          const b = text.ownerSVGElement.getBoundingClientRect();
          return a.left >= b.left - 1 && a.right <= b.right + 1;
        })
        """
    )
    assert inside


def test_names_in_the_map_cover_no_points(seen):
    labels = texts(seen, "#plane text")
    assert len(labels) > 3
    assert all(name.startswith("color ") for name in labels)
    covered = seen.execute_script(
        """
        const points = [...document.querySelectorAll("#plane circle.place")]
          .map((point) => point.getBoundingClientRect());
        return [...document.querySelectorAll("#plane text")].filter((text) => {
          const [a, b, c, e] = text.dataset.box.split(" ").map(Number);
          const m = text.getScreenCTM();
          const left = a * m.a + m.e, right = c * m.a + m.e;
          const top = b * m.d + m.f, bottom = e * m.d + m.f;
          return points.some((p) =>
            left < p.right && right > p.left && top < p.bottom && bottom > p.top);
        }).length
        """
    )
    assert covered == 0


def test_points_stand_out_from_the_page(seen):
    """Each point, or its edge, has a contrast of 3 with the card behind it (WCAG)."""
    contrasts = seen.execute_script(
        """
        const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        const light = (color) => {
          const [r, g, b] = color.match(/[0-9.]+/g).map((v) => linear(v / 255));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const places = document.querySelector("#places");
        const card = light(getComputedStyle(places).backgroundColor);
        return [...document.querySelectorAll("#plane circle.place")].map((point) => {
          const { fill, stroke } = getComputedStyle(point);
          return Math.max(ratio(light(fill), card), ratio(light(stroke), card));
        })
        """
    )
    assert len(contrasts) == 12
    assert min(contrasts) >= 3.0


def test_examples_are_named_by_the_user(seen):
    titles = texts(seen, "#cards h3")
    assert titles
    assert all(": photo" in title and "of X)" in title for title in titles)


def test_theme_follows_the_button(page):
    light = background(page)
    by_id(page, "theme").click()
    dark = background(page)
    assert dark != light
    assert by_id(page, "theme").text == "Light"
    by_id(page, "theme").click()
    assert background(page) == light


def test_theme_follows_the_system(page):
    light = background(page)
    feature = {"name": "prefers-color-scheme", "value": "dark"}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        # The browser tells the page of the change some time later.
        WebDriverWait(page, 30).until(lambda _: by_id(page, "theme").text == "Light")
        assert background(page) != light
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_legend_filter_and_confusion(page):
    count = len(page.find_elements("css selector", "#errors path"))
    page.find_element("css selector", "#legend button.is-l2").click()
    assert len(page.find_elements("css selector", "#errors path")) == count - 1
    shown = len(page.find_elements("css selector", "#cards article"))
    buttons = page.find_elements("css selector", "#filter button")
    page.execute_script("arguments[0].click()", buttons[-1])
    kept = page.find_elements("css selector", "#cards article")
    assert 0 < len(kept) <= shown
    assert len({each.get_attribute("class") for each in kept}) == 1
    Select(by_id(page, "shown")).select_by_value("l1")
    assert sum(int(each) for each in texts(page, "#matrix td")) == 14


def test_prints(page):
    by_id(page, "theme").click()  # dark, but paper is white
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert background(page) == "rgb(255, 255, 255)"
        assert not by_id(page, "print").is_displayed()
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    pdf = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    assert base64.b64decode(pdf).startswith(b"%PDF")


N_BINS, N_CLASSES = 5000, 20


def long_name(what, number):
    """Name with sixty characters."""
    name = f"{what} {number:04d}, whose name has exactly sixty characters, like this"
    return name[:60].strip().ljust(60, "x")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Make a report on many classes and features, all with long names."""
    rng = np.random.default_rng(0)
    masses = rng.dirichlet(np.full(N_BINS, 0.3))
    masses = masses * np.exp((rng.random((N_CLASSES, N_BINS)) < 0.05) * 2.0)
    numbers = np.repeat(np.arange(N_CLASSES), 6)
    X = np.array([rng.poisson(3000 * masses[k]) for k in numbers], dtype=float)
    X[0, 0] += 1000 * masses.sum()  # far from the others
    y = np.array([long_name("class", k) for k in numbers])
    return write_report(
        tmp_path_factory.mktemp("many") / "r.html",
        X=X[::2], y=y[::2], X_test=X[1::2], y_test=y[1::2], learners=(),
        feature_names=[long_name("bin", p) for p in range(N_BINS)],
        learner=DiscriminantMetricLearning(),
    )  # fmt: skip


def test_many_classes_and_features_fit(window, many):
    assert many.stat().st_size < 400_000
    window.get(many.as_uri())
    window.find_element("css selector", "html[data-ready=true]")
    wide = "return [document.documentElement.scrollWidth, innerWidth]"
    assert np.diff(window.execute_script(wide)) >= 0
    # Each part is inside its card, or scrolls there.
    outside = window.execute_script(
        """
        return [...document.querySelectorAll(".card *")].filter((part) => {
          const card = part.closest(".card").getBoundingClientRect();
          return !part.closest(".scroll table") && !part.closest("option, select, svg")
            && part.getBoundingClientRect().right > card.right + 1;
        }).map((part) => part.outerHTML.slice(0, 80))
        """
    )
    assert outside == []
    cut = window.execute_script(
        """
        return [...document.querySelectorAll("th, b, h3, li, .ranks span:first-child")]
          .filter((part) => part.scrollWidth > part.clientWidth + 1
            && getComputedStyle(part).overflow !== "visible")
          .map((part) => part.textContent)
        """
    )
    assert cut == []
    rows = texts(window, "#matrix tbody th")
    assert rows == [f"{k + 1} {long_name('class', k)}" for k in range(N_CLASSES)]
    assert texts(window, "#matrix thead th")[1:] == [
        str(k + 1) for k in range(N_CLASSES)
    ]
    assert "Columns have the numbers of the rows." in by_id(window, "explained").text
    assert {len(name) for name in texts(window, ".ranks span:first-child")} == {60}


def test_map_of_many_features_names_some_in_full(window, many):
    window.get(many.as_uri())
    window.find_element("css selector", "html[data-ready=true]")
    said = by_id(window, "metric").text
    assert f"Of 5,000 features, {N_SHOWN} are compared here" in said
    assert len(window.find_elements("css selector", "#plane circle.place")) == N_SHOWN
    dots = window.find_element("css selector", "#plane .others").get_attribute("d")
    assert 3000 < dots.count("M") <= N_BINS - N_SHOWN  # not those that are empty
    names = window.execute_script(
        """
        return [...document.querySelectorAll("#plane text")].map((text) =>
          [...text.children].map((line) => line.textContent).join(" "))
        """
    )
    assert len(names) >= 3
    assert {len(name) for name in names} == {60}
    boxes = window.execute_script(
        """
        const plane = document.querySelector("#plane").getBoundingClientRect();
        return [...document.querySelectorAll("#plane text")].map((text) => {
          const box = text.getBoundingClientRect();
          return [box.left - plane.left, box.top - plane.top,
                  plane.right - box.right, plane.bottom - box.bottom];
        })
        """
    )
    assert np.min(boxes) > -8  # pixels; fonts differ


def test_features_with_most_extreme_places_have_names(window, many):
    window.get(many.as_uri())
    window.find_element("css selector", "html[data-ready=true]")
    farthest = window.execute_script(
        """
        const points = [...document.querySelectorAll("#plane circle.place")]
          .map((p) => [Number(p.getAttribute("cx")), Number(p.getAttribute("cy"))]);
        const middle = [0, 1].map((k) =>
          points.reduce((sum, p) => sum + p[k], 0) / points.length);
        const apart = points.map((p) => Math.hypot(p[0] - middle[0], p[1] - middle[1]));
        const p = document.querySelectorAll("#plane circle.place")[
          apart.indexOf(Math.max(...apart))].dataset.feature;
        const shown = JSON.parse(document.getElementById("data").textContent);
        return shown.names[p];
        """
    )
    words = window.execute_script(
        "return [...document.querySelectorAll('#plane text')].map((text) =>"
        "[...text.children].map((line) => line.textContent).join(' '))"
    )
    assert farthest in words
