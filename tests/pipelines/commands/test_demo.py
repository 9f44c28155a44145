"""The demonstration: which catalogues it reads, and what it shows of its run."""

import importlib.metadata
import re
from pathlib import PurePosixPath

import pytest

from pairweave.pipelines.commands import demo
from pairweave.pipelines.options.corpus_options import TaggedCorpus
from pairweave.transforms.errors import ConfigError
from tests.makers import corpora, finished_runs, runs


class Listed(PurePosixPath):
    """A file of an installed package."""

    def locate(self):
        return f"/site/{self}"


@pytest.fixture
def packages(monkeypatch):
    """Return the files of installed packages, which tests fill."""
    result = {}

    def files(name):
        if name not in result:
            raise importlib.metadata.PackageNotFoundError(name)
        return [Listed(path) for path in result[name]]

    monkeypatch.setattr(importlib.metadata, "files", files)
    return result


def test_every_catalogue_of_the_language_is_read_with_the_licence_of_its_package(packages):
    packages["Django"] = [
        "django/b/locale/de/LC_MESSAGES/django.po",
        "django/a/locale/de/LC_MESSAGES/django.po",
        "django/a/locale/de/LC_MESSAGES/django.mo",
        "django/a/locale/de_CH/LC_MESSAGES/django.po",
        "django/a/locale/fr/LC_MESSAGES/django.po",
    ]
    packages["wagtail"] = ["wagtail/locale/fr/LC_MESSAGES/django.po"]
    (made,) = demo.catalogues("de")
    assert (made.corpus, made.licence) == ("django", "bsd-3-clause")
    assert (made.source_lang, made.target_lang) == ("en", "de")
    assert made.input == tuple(
        f"/site/django/{part}/locale/de/LC_MESSAGES/django.po" for part in "ab"
    )
    assert [corpus.corpus for corpus in demo.catalogues("fr")] == ["django", "wagtail"]


def test_without_any_package_it_says_what_to_install(packages):
    packages["Sphinx"] = []
    with pytest.raises(ConfigError) as refused:
        demo.catalogues("es")
    assert "none of Django, Sphinx, django-allauth, wagtail is installed" in str(refused.value)
    assert "pip install 'pairweave[demo]'" in str(refused.value)


def test_it_shows_the_pairs_with_the_most_tags_and_says_where_its_files_are(tmp_path, monkeypatch):
    lines = ["\t".join(corpora.sentence(number)) for number in range(60)]
    (tmp_path / "a.tsv").write_text("".join(f"{line}\n" for line in lines))
    corpus = TaggedCorpus(
        corpus="a", input=(str(tmp_path / "a.tsv"),), source_lang="en", target_lang="de"
    )
    asked = []
    monkeypatch.setattr(demo, "catalogues", lambda language: asked.append(language) or (corpus,))
    words = ("--output", "shown", "--pairs", 2, "--target_lang", "fr")
    out = runs.run_well_here("demo", *words, cwd=tmp_path)
    assert asked == ["fr"]
    rows = demo.richest(str(tmp_path / "shown"), 1000)
    tags = [len(row["tags"]) for row in rows]
    assert len(rows) > 20
    assert tags == sorted(tags, reverse=True)
    assert tags[0] > tags[-1]
    assert [len(row["tags"]) for row in demo.richest(str(tmp_path / "shown"), 2)] == tags[:2]
    told = out.rstrip().splitlines()
    assert told[-1].split() == ["manifest:", "shown/_manifest.json"]
    assert any(line.split() == ["report:", "shown/report.html"] for line in told)


def test_no_tag_of_its_pairs_crosses_the_end_of_a_sentence(tmp_path, monkeypatch):
    lines = []
    for number in range(0, 120, 2):
        two = zip(corpora.sentence(number), corpora.sentence(number + 1), strict=True)
        lines.append("\t".join(" ".join(sentences) for sentences in two))
    (tmp_path / "a.tsv").write_text("".join(f"{line}\n" for line in lines))
    corpus = TaggedCorpus(
        corpus="a", input=(str(tmp_path / "a.tsv"),), source_lang="en", target_lang="de"
    )
    monkeypatch.setattr(demo, "catalogues", lambda _: (corpus,))
    runs.run_well_here("demo", "--output", "shown", cwd=tmp_path)
    held = []
    for row in demo.richest(str(tmp_path / "shown"), 1000):
        for side in ("source", "target"):
            plain = re.sub(r"</?a_\d+>", "", row[side])
            held += [plain[tag[f"{side}_start"] : tag[f"{side}_end"]] for tag in row["tags"]]
    assert len(held) > 40
    assert any(" " in text for text in held)
    assert not [text for text in held if ". " in text]


def test_the_demonstration_shows_the_pairs_with_the_most_tags(tmp_path):
    path = str(tmp_path / "out")
    finished_runs.write_run(path)
    rows = demo.richest(path, 3)
    assert [len(row["tags"]) for row in rows] == [3, 2, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--runner", "FlinkRunner"), "give --engine flink"),
        (("--direct_num_workers", "-3"), "--direct_num_workers -3"),
    ],
)
def test_options_of_beam_are_checked_before_anything_is_read(tmp_path, words, said):
    status, _, errors = runs.run_here("demo", *words, "--output", "o", cwd=tmp_path)
    assert (status, said in errors) == (2, True)
    assert not (tmp_path / "o").exists()
