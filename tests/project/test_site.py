"""The documentation site: generated pages hold everything, and it builds offline without a warning."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

import browser
import rankbounds as rb
from rankbounds.cli import build_parser
from rankbounds.measures import REGISTRY

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def reference():
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_measures_page_explains_every_measure(reference):
    headings = re.findall(r"^(#+) (.+)$", reference.measures_page(), re.M)
    names = [name for depth, name in headings if depth == "###"]
    assert sorted(names) == sorted(map(reference._text, REGISTRY))
    families = [reference._text(family) for family in reference.FAMILIES]
    assert [name for depth, name in headings if depth == "##"] == [*families, "One name, two meanings"]
    for family, kinds in reference.families().items():
        assert kinds, family


def test_commands_page_has_every_command_and_option(reference):
    page = reference.commands_page()
    for command, parser in build_parser().commands.items():
        section = page.partition(f"### rankbounds {command}\n")[2].partition("\n### ")[0]
        shown = re.findall(r"<code>(.+?)</code>", section)
        assert {reference._text(option.usage) for option in parser.actions} <= {*shown}, command
    for option in ("--bounds", "--read-only", "--groups FILE"):
        assert option in page
    assert "%(" not in page


def test_every_public_name_stands_on_one_page(reference):
    """Measures stand among measures only."""
    elsewhere = {"__version__", *rb.NAMESPACES, *rb.measures.__all__}
    names = [f"rankbounds.{name}" for name in set(rb.__all__) - elsewhere]
    names += [f"rankbounds.{space}.{name}" for space in rb.NAMESPACES for name in getattr(rb, space).__all__]
    pages = {space: re.findall(r"^::: (.+)$", reference.python_page(space), re.M) for space in reference.PYTHON}
    assert sorted(name for page in pages.values() for name in page) == sorted(names)
    assert all(pages.values())
    listed = (ROOT / "mkdocs.yml").read_text()
    assert re.findall(r"^ +- (.+): python-(\w+)\.md$", listed, re.M) == [
        (title, space) for space, title in reference.PYTHON.items()
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built without a warning."""
    pytest.importorskip("mkdocs", reason="the site is built by MkDocs: pip install mkdocs")
    pytest.importorskip("mkdocstrings", reason="docstrings are shown by mkdocstrings: pip install mkdocstrings-python")
    folder = tmp_path_factory.mktemp("built") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_the_site_holds_everything(site, reference):
    pages = {page.name for page in site.glob("*.html")}
    assert {"index.html", "measures.html", "commands.html", "report.html", "papers.html", "errata.html"} <= pages
    assert 'id="rankbounds.compare"' in (site / "python-top.html").read_text()

    def shown(page, begin):
        part = (site / page).read_text().partition(f'id="{begin}"')[2].partition("<h3 id=")[0]
        return re.sub(r"<[^>]+>|\s", "", part)

    assert "AP(*,rel:float=1.0,cutoff:int|None=None)" in shown("python-measures.html", "rankbounds.measures.AP")
    assert "q(float|None,default:None)" in shown("python-top.html", "rankbounds.Evaluator")
    assert "Wheretodraw" in shown("python-plots.html", "rankbounds.plots.leaderboard")
    for page in site.glob("python-*.html"):
        for signature in re.findall(r'<div class="doc-signature.*?</pre>', page.read_text(), re.S):
            lines = re.sub(r"<[^>]+>", "", signature).splitlines()
            assert max(map(len, lines)) <= 100, f"{page.name}: {lines}"
    written = (site / "index.html").read_text()
    assert 'src="http' not in written
    assert 'rel="stylesheet" href="http' not in written
    assert "hide:" not in written, "the settings at the top of the page are shown"
    top = (site / "python-top.html").read_text()
    for name, hidden in reference.INTERNAL.items():
        home = getattr(rb, name, None) or getattr(rb.rbp, name)
        known = {*dir(home), *getattr(home, "__annotations__", ())}
        for member in hidden.split():
            assert member in known, f"{name}.{member}"
            assert f'id="rankbounds.{name}.{member}"' not in top
    assert 'id="rankbounds.Comparison.gate"' in top
    assert 'id="rankbounds.report.gather"' not in top


SEARCHED = [
    ("significance", "significance.html"),
    ("confidence interval", "significance.html"),
    ("confidence interval", "concepts.html"),
    ("plot", "gallery.html"),
    ("segments", "many.html"),
    ("leave one out", "uncertain-mean.html"),
    ("leaderboard", "report.html"),
    ("holes", "unjudged.html"),
    ("mtc", "unjudged.html"),
    ("wallenius", "papers.html"),
    ("induced ap", "papers.html"),
    ("swap", "papers.html"),
    ("coverage", "evidence.html"),
]
"""What people search for, and the page that opens with it."""


@pytest.mark.parametrize(("words", "page"), SEARCHED)
def test_search_finds_a_page_by_the_words_that_people_use(site, words, page):
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    (opening,) = (f"{part['title']} {part['text']}".lower() for part in index if part["location"] == page)
    assert not [word for word in words.split() if word not in opening]


def test_search_works_from_disk(site, tmp_path):
    driver = browser.start(tmp_path, 1280, 900)
    try:
        driver.get((site / "index.html").as_uri())
        field = driver.find_element("css selector", ".md-search__input")
        driver.execute_script("arguments[0].focus()", field)
        field.send_keys("leaderboard")
        found = ".md-search-result__item a"
        deadline = time.monotonic() + 600
        while not driver.find_elements("css selector", found) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert any("report.html" in link.get_attribute("href") for link in driver.find_elements("css selector", found))
    finally:
        driver.quit()


def test_pictures_fit_a_phone(site, tmp_path):
    wide = "[...document.querySelectorAll('article img')].filter((one) => one.getBoundingClientRect().right > 390)"
    pages = [page for page in sorted(site.glob("*.html")) if "<img" in page.read_text().partition("<article")[2]]
    assert len(pages) > 5
    driver = browser.start(tmp_path, 390, 800)
    try:
        size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for page in pages:
            driver.get(page.as_uri())
            assert driver.execute_script(f"return {wide}.map((one) => one.src)") == [], page.name
            assert driver.execute_script("return document.documentElement.scrollWidth") == 390, page.name
    finally:
        driver.quit()


def test_llms_txt_leads_to_pages_of_the_site(site):
    links = re.findall(r"\]\((\S+)\)", (site / "llms.txt").read_text("utf-8"))
    assert len(links) > 25
    assert not [link for link in links if not (site / link).exists()]


def test_all_pages_together_stay_readable():
    """Whoever needs words takes others out first."""
    words = {page.name: len(page.read_text("utf-8").split()) for page in (ROOT / "docs").glob("*.md")}
    assert sum(words.values()) <= 32_000, sorted(words.items(), key=lambda item: -item[1])[:8]


def test_pages_install_from_where_the_package_is():
    """It is in no index yet."""
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"pip install ['\"]?rankbounds", page.read_text("utf-8")), page.name


def test_llms_txt_names_every_page():
    text = (ROOT / "docs" / "llms.txt").read_text("utf-8")
    named = re.findall(r"\]\((\S+\.md)\)", text)
    assert sorted(named) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))
    commands = {line.partition(" ")[0] for line in re.findall(r"`rankbounds ([a-z][^`]*)`", text)}
    assert commands <= set(build_parser().commands)


def _outputs():
    spec = importlib.util.spec_from_file_location("outputs", ROOT / "docs" / "outputs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OUTPUTS = _outputs()


@pytest.fixture
def same_measures():
    """Take measures that a page adds out of the registry again."""
    known = set(REGISTRY)
    yield
    for name in set(REGISTRY) - known:
        del REGISTRY[name]


@pytest.mark.skipif(sys.platform != "linux", reason="pages are set up with the tools of a Linux shell")
@pytest.mark.parametrize("page", OUTPUTS.pages(), ids=lambda page: page.name)
def test_what_a_page_shows_is_what_comes_out(page, same_measures):
    try:
        rewritten = OUTPUTS.rewritten(page)
    except OUTPUTS.PageError as error:
        if isinstance(error.__cause__, ModuleNotFoundError) and error.__cause__.name == "ir_measures":
            pytest.skip("the page shows ir_measures, which is not installed: pip install ir_measures")
        raise
    assert rewritten == page.read_text(), "python docs/outputs.py writes the pages anew"


def test_every_block_of_commands_is_one_that_is_run():
    shown_as_they_are = {"csv", "text", "yaml"}
    for page in OUTPUTS.pages():
        text = page.read_text()
        for block in OUTPUTS.BLOCK.finditer(text):
            if block["body"] and not block["skip"] and block["language"] not in OUTPUTS.RUN:
                assert block["language"] in shown_as_they_are, f"{page.name}: {block[0]}"
                assert "rankbounds: " not in block["body"], f"{page.name}: {block[0]}"
        outside = OUTPUTS.BLOCK.sub("", text)
        assert not re.findall(r"^ *(?:\$ )?rankbounds [a-z-]+ .*(?:qrels|runs|\.txt)", outside, re.M), page.name


def test_real_data_is_run_where_it_is_and_left_alone_where_not(tmp_path, monkeypatch):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "word.txt").write_text("here\n")
    with tarfile.open(tmp_path / "made.tar.xz", "w:xz") as packed:
        packed.add(tmp_path / "made", "made")
    block = "<!-- with {} -->\n```console\n$ cat word.txt word.txt\n{}```\n"
    page = tmp_path / "page.md"
    page.write_text(block.format("made.tar.xz", "") + block.format("absent.tar.xz", "kept\n"))
    monkeypatch.setenv("RANKBOUNDS_DATA", str(tmp_path))
    assert OUTPUTS.rewritten(page) == block.format("made.tar.xz", "here\nhere\n") + block.format(
        "absent.tar.xz", "kept\n"
    )


def test_sentences_wrap_and_tables_do_not(reference):
    sentence = "Is it noise? Probably not: chance alone would rarely produce a difference this large (p = 0.0001)."
    table = "run       nDCG@10      95% interval            bounds  group  judged@10  best on topics"
    page = f'<pre><code>{sentence}\n{table}\n<span class="go">{sentence}</span>\n</code></pre><p>{sentence}</p>'
    wrapped = reference.on_page_content(page)
    assert wrapped.count('<span class="sentence">') == 2
    assert re.sub(r'<span class="sentence">(.+?)</span>(?=\n)', r"\1", wrapped) == page
    assert f"\n{table}\n" in wrapped


ADDRESSES = {
    "https://github.com/OWNER/rankbounds",
    "https://pre-commit.com",
    "https://semver.org",
}
"""All that pages point to elsewhere: no test looks there, so a new one is to be looked at by somebody."""


def test_links_of_pages_outside_the_site_lead_somewhere():
    """Those of the site's own pages, anchors too, are followed when it is built."""
    followed = 0
    for page in [*ROOT.glob("*.md"), *(ROOT / "tests").rglob("*.md"), *(ROOT / ".github").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)\s]+)\)", OUTPUTS.BLOCK.sub("", page.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            path = page.parent / name if name else page
            assert path.exists(), f"{page.name}: {target}"
            if anchor:
                headings = re.findall(r"^#+ (.+)$", path.read_text(), re.M)
                assert anchor in {re.sub(r"[^\w\- ]", "", line).lower().replace(" ", "-") for line in headings}, target
            followed += 1
    assert followed > 40


def test_addresses_elsewhere_are_the_known_ones():
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / ".github").rglob("*.yml"),
        ROOT / "CITATION.cff",
    ]
    named = {
        address.rstrip(".,") for page in pages for address in re.findall(r"https?://[^\s)>\"'`]+", page.read_text())
    }
    assert {address for address in named if "//127.0.0.1" not in address} == ADDRESSES


def test_the_recipe_of_conda_needs_what_the_package_needs():
    declared = (ROOT / "pyproject.toml").read_text().partition("\ndependencies = [")[2].partition("]")[0]
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text().partition("  run:\n")[2].partition("test:")[0]
    needed = dict(re.findall(r"- (\w+) (>=\S+)", recipe))
    assert needed.pop("python") == ">=3.10"
    assert needed == dict(re.findall(r'"(\w+)(>=[^;"]+)', declared))
    assert len(needed) >= 5
