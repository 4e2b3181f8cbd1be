"""report.html in a real browser: nothing complains, nothing overflows, everything can be read and reached."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from analyzer.engine.model import Report
from analyzer.render.html import report_html

from .browser import Browser
from .cluster import CLUSTER, SMALL, crowded
from .hostile import STRINGS
from .sample import FRONT_PODS, HEALTHY, SAMPLE, alike, big, with_text

pytestmark = pytest.mark.browser

LONG = "x" * 180
REPORTS: dict[str, Report] = {
    "sample": SAMPLE,
    "healthy": HEALTHY,
    "large": big(600, 100),
    "hostile": with_text(SAMPLE, lambda was: f"{was} {' '.join(STRINGS)}"),
    "alike": alike(),
    "alike, long words": with_text(alike(60, 30), lambda was: was + LONG),
    "long words": with_text(SAMPLE, lambda was: was + LONG),
    "cluster": CLUSTER,
    "cluster, crowded": crowded(),
    "cluster, hostile": with_text(SMALL, lambda was: f"{was} {' '.join(STRINGS)}"),
    "cluster, long words": with_text(SMALL, lambda was: was + LONG),
}
# Text against the background behind it, as WCAG 2.2 computes it; transparent backgrounds are looked through.
CONTRAST = """(() => {
  const rgb = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => { const f = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    return .2126 * f(r) + .7152 * f(g) + .0722 * f(b) };
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length && c[3] !== 0) return c } return [255, 255, 255] };
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || e.closest('svg, script, style, .skip')) continue;
    if (!e.checkVisibility()) continue;
    const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.push(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
  }
  return bad.join(', ') })()"""
UNNAMED = """[...document.querySelectorAll('button, a[href], input, select, summary')]
  .filter(e => !(e.getAttribute('aria-label') || e.textContent || [...(e.labels || [])].map(l => l.textContent).join('')).trim())
  .map(e => e.outerHTML.slice(0, 80)).join(', ')"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as found:
        yield found


@pytest.fixture
def quiet(browser: Browser) -> Browser:
    browser.complaints.clear()
    browser.requests.clear()
    return browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    urls = {}
    for name, report in REPORTS.items():
        file = folder / f"{name.replace(' ', '-').replace(',', '')}.html"
        file.write_text(report_html(report), encoding="utf-8")
        urls[name] = file.as_uri()
    return urls


@pytest.mark.parametrize("name", REPORTS)
def test_no_complaint_no_request_no_sideways_overflow(quiet: Browser, pages: dict[str, str], name: str) -> None:
    for width in (1280, 1121, 820, 769, 390, 320):
        quiet.show(pages[name], width, 900, dark=width == 390)
        quiet.value("document.querySelectorAll('details').forEach(x => x.open = true)")
        assert quiet.value("document.documentElement.scrollWidth") <= width, width
    assert quiet.complaints == []
    assert set(quiet.requests) <= {pages[name], "about:blank"}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_can_be_read_and_controls_have_names(quiet: Browser, pages: dict[str, str], dark: bool) -> None:
    for width in (1280, 390):
        quiet.show(pages["cluster" if dark else "alike"], width, 900, dark=dark)
        quiet.value("document.querySelectorAll('details').forEach(x => x.open = true)")
        assert quiet.value(CONTRAST) == ""
        assert quiet.value(UNNAMED) == ""
    shade = quiet.value("getComputedStyle(document.body).backgroundColor")
    assert shade == ("rgb(22, 24, 27)" if dark else "rgb(253, 253, 251)")


def test_the_policy_stops_a_script_that_slipped_in(quiet: Browser, tmp_path: Path) -> None:
    page = report_html(SAMPLE).replace(
        "<main>", "<main><script>window.hit = 1</script><p onclick='hit=2' style='color:red'>x</p>"
    )
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    quiet.show(file.as_uri(), 1280, 900)
    assert quiet.value("typeof window.hit") == "undefined"
    assert any("Content Security Policy" in text for text in quiet.complaints)


def test_the_filters_narrow_the_findings(quiet: Browser, pages: dict[str, str]) -> None:
    quiet.show(pages["sample"], 1280, 900)
    shown = "[...document.querySelectorAll('#fl tbody tr')].filter(r => !r.hidden).length"
    assert quiet.value("!document.querySelector('#filters').hidden")
    assert quiet.value(shown) == 9
    quiet.value(
        "document.querySelector('input[name=sev][value=w]').click(); document.querySelector('input[name=sev][value=i]').click()"
    )
    quiet.value("new Promise(done => setTimeout(done, 300))")
    assert quiet.value(shown) == 4
    assert quiet.value("document.querySelector('#count').textContent") == "4 of 9 listed findings shown"


def test_a_link_into_folded_text_opens_it(quiet: Browser, pages: dict[str, str]) -> None:
    row = quiet
    row.show(pages["sample"], 1280, 900)
    row.value("document.querySelector('.chain .what a').click(); new Promise(done => setTimeout(done, 200))")
    assert row.value("location.hash") == "#f1"
    assert row.value("document.querySelector('#f1 details').open")


def test_everything_is_there_without_a_script(quiet: Browser, pages: dict[str, str]) -> None:
    quiet.show(pages["sample"], 1280, 900, script=False)
    try:
        document = quiet.call("DOM.getDocument")["root"]["nodeId"]

        def found(selector: str) -> int:
            return len(quiet.call("DOM.querySelectorAll", nodeId=document, selector=selector)["nodeIds"])

        assert found("article.inc") == 4
        assert found("#fl tbody tr:not([hidden])") == 9
        assert found("button:not([hidden])") == 1  # the reset button, in a form that is hidden itself
        assert found("#filters[hidden]") == 1
    finally:
        quiet.call("Emulation.setScriptExecutionDisabled", value=False)


def test_the_theme_switch_needs_no_script_and_is_remembered_with_one(quiet: Browser, pages: dict[str, str]) -> None:
    quiet.show(pages["sample"], 1280, 900)
    quiet.value("document.querySelector('#th-d').click()")
    assert quiet.value("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"
    quiet.value("document.querySelector('input[name=theme][value=auto]').click()")


def test_print_shows_the_evidence(quiet: Browser, pages: dict[str, str], tmp_path: Path) -> None:
    quiet.show(pages["sample"], 1280, 900)
    quiet.call("Emulation.setEmulatedMedia", media="print")
    height = quiet.value("document.querySelector('details.ev pre').getBoundingClientRect().height")
    quiet.call("Emulation.setEmulatedMedia", media="")
    assert height > 10
    quiet.printed(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def _boxes(browser: Browser, selector: str) -> list[list[float]]:
    found: list[list[float]] = browser.value(
        f"[...document.querySelectorAll({selector!r})].map(e => e.getBoundingClientRect())"
        ".map(b => [b.left + scrollX, b.top + scrollY, b.width, b.height])"
    )
    return found


@pytest.mark.parametrize("medium", ["screen", "print"])
def test_drawings_stand_within_their_cells(quiet: Browser, pages: dict[str, str], medium: str) -> None:
    for width in (1280, 820, 690, 320):
        quiet.show(pages["cluster"], width, 900)
        quiet.call("Emulation.setEmulatedMedia", media=medium)
        try:
            assert quiet.value("document.querySelectorAll('.ov .gpus').length") > 30
            beyond = quiet.value(
                "[...document.querySelectorAll('.ov td')].filter(td => [...td.querySelectorAll('svg')].some(svg =>"
                " svg.getBoundingClientRect().right > td.getBoundingClientRect().right + 1)).length"
            )
            assert beyond == 0, width
            for _, _, wide, high in _boxes(quiet, ".ov .gpus"):
                assert high == (high - 18) // 23 * 23 + 18
                assert wide == (wide - 18) // 23 * 23 + 18
            for _, _, wide, high in _boxes(quiet, ".ov .quota"):
                assert high == 22
                assert wide > 80
        finally:
            quiet.call("Emulation.setEmulatedMedia", media="")


def test_names_keep_room_beside_drawings_and_numbers(quiet: Browser, pages: dict[str, str]) -> None:
    for width in (1280, 820, 769):
        quiet.show(pages["cluster"], width, 900)
        assert min(wide for _, _, wide, _ in _boxes(quiet, ".ov > tbody > tr > th")) > 70, width


def test_every_look_of_a_gpu_is_one_of_its_own(quiet: Browser, pages: dict[str, str]) -> None:
    quiet.show(pages["cluster"], 1280, 900)
    seen = {}
    for colours in ("none", "active"):
        quiet.call("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": colours}])
        for number, (left, top, wide, high) in enumerate(_boxes(quiet, "#cluster-gpu-nodes + .key svg")):
            clip = {"x": left, "y": top, "width": wide, "height": high, "scale": 1}
            shot = quiet.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
            seen[colours, number] = base64.b64decode(shot)
    quiet.call("Emulation.setEmulatedMedia", features=[])
    assert len(seen) == 16
    for colours in ("none", "active"):
        assert len({data for (name, _), data in seen.items() if name == colours}) == 8


def test_a_row_of_the_cluster_leads_to_its_finding(quiet: Browser, pages: dict[str, str]) -> None:
    quiet.show(pages["cluster"], 1280, 900)
    quiet.value("document.querySelector('.ov .fi a').click(); new Promise(done => setTimeout(done, 200))")
    assert quiet.value("document.querySelector(location.hash).closest('table').id") == "fl"


def test_a_finding_names_what_it_folds(quiet: Browser, pages: dict[str, str]) -> None:
    quiet.show(pages["sample"], 1280, 900)
    text = quiet.value("document.querySelector('#fl').textContent")
    for ref in FRONT_PODS.objects:
        assert f"shop/{ref.name}" in text
