"""The zip archives of OPUS for Moses."""

import dataclasses
import gzip
import zipfile

import pytest

from pairweave.transforms.errors import InputError, WorkerError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import CorpusInput, ReadLimits
from tests.makers.reading import pairs, read_all, reasons

TEXTS = {
    "LICENSE": "free",
    "README": "text",
    "Books.cs-en.cs": "dům\nstrom\n",
    "Books.cs-en.en": "house\ntree\n",
    "Books.cs-en.ids": "1\n2\n",
}


def archive(directory, texts=None, compression=zipfile.ZIP_DEFLATED):
    path = directory / "cs-en.txt.zip"
    with zipfile.ZipFile(path, "w", compression) as made:
        for name, text in (texts or TEXTS).items():
            made.writestr(name, text)
    return path


def corpus(path, *langs, **more):
    return CorpusInput(*langs, input=(str(path),), **more)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_members_of_both_languages_are_the_sides(tmp_path, compression):
    path = archive(tmp_path, compression=compression)
    rows = read_all(corpus(path, "en", "cs"))
    assert pairs(rows) == [("house", "dům"), ("tree", "strom")]
    assert {row["file"] for row in rows} == {"cs-en.txt.zip"}
    assert [row["line"] for row in rows] == [1, 2]


@pytest.mark.parametrize(
    ("names", "langs"),
    [
        (list(TEXTS), ("cs", "en")),
        (["README", "LICENSE", *(f"T.de-en.{end}" for end in ("de", "en", "xml"))], ("de", "en")),
        ([f"T.ast-en.{end}" for end in ("ids", "en", "ast", "log")], ("ast", "en")),
        ([f"T.en-pt_br.{end}" for end in ("en", "pt", "pt_br")], ("en", "pt-br")),
        (["a.en", "a.de", "a.log", "a.txt"], ("de", "en")),
        (["a.en", "a.ceb", "a.ids", "b.xml", "b.txt"], ("ceb", "en")),
    ],
)
def test_without_languages_the_names_of_the_only_two_members_say_them(tmp_path, names, langs):
    texts = {name: TEXTS.get(name, "a\nb\n") for name in names}
    (unit,) = make_plan([corpus(archive(tmp_path, texts), "und", "und")]).units
    assert (unit.source_lang, unit.target_lang) == langs
    assert unit.rows == 2


@pytest.mark.parametrize(
    ("given", "langs"), [(("en-GB", "und"), ("en-GB", "cs")), (("und", "cs"), ("en", "cs"))]
)
def test_the_one_language_that_is_given_is_that_of_its_side(tmp_path, given, langs):
    (unit,) = make_plan([corpus(archive(tmp_path), *given)]).units
    assert (unit.source_lang, unit.target_lang) == langs
    assert pairs(read_all(corpus(archive(tmp_path), *given)))[0] == ("house", "dům")
    with pytest.raises(InputError, match="no pair of members of one name"):
        make_plan([corpus(archive(tmp_path), *(lang.replace("und", "fr") for lang in given))])
    with pytest.raises(InputError, match="no pair of members of one name"):
        make_plan([corpus(archive(tmp_path), "und", "fr")])


def test_a_tag_finds_the_member_of_its_language(tmp_path):
    texts = {"a.en-pt_br.en": "a\n", "a.en-pt_br.pt_br": "b\n"}
    path = archive(tmp_path, texts)
    assert pairs(read_all(corpus(path, "pt-BR", "en"))) == [("b", "a")]
    assert pairs(read_all(corpus(path, "pt", "en"))) == [("b", "a")]


def test_a_lost_line_is_named_with_its_place(tmp_path, shared_data):
    names = [shared_data / "parallel" / f"newstest.en-de.{side}.gz" for side in ("en", "de")]
    sides = [gzip.decompress(name.read_bytes()).decode().split("\n")[:1_000] for name in names]
    del sides[1][600]
    texts = {f"a.{lang}": "\n".join(side) for lang, side in zip(("en", "de"), sides, strict=True)}
    with pytest.raises(InputError, match=r"lines, and from line 60[0-9] on the target is 1 l"):
        make_plan([corpus(archive(tmp_path, texts), "en", "de")])


@pytest.mark.parametrize(
    ("texts", "langs", "code", "said"),
    [
        (TEXTS, ("de", "en"), "no_match", "no pair of members of one name that end in .de and .en"),
        (
            {"a.en": "a\n", "b.de": "b\n"},
            ("en", "de"),
            "no_match",
            "(it has a.en, b.de); give other languages, or unpack it, and give the two files",
        ),
        (
            {"a.en": "a\n", "a.de": "b\n", "c.en": "a\n", "c.de": "b\n"},
            ("en", "de"),
            "no_match",
            "2 pairs of members of one name",
        ),
        (
            {"a.en": "a\n", "a.de": "b\n", "a.fr": "c\n"},
            ("und", "und"),
            "no_match",
            "no pair of members of one name (it has a.de, a.en, a.fr); give source_lang and target",
        ),
        (
            {"a.en": "a\nb\n", "a.de": "b\n"},
            ("en", "de"),
            "line_count_mismatch",
            "a.en has 2 lines and a.de has 1 line; both",
        ),
        (
            {"a.en": "a" * 99_999, "a.de": "b\n"},
            ("en", "de"),
            "expansion_limit",
            "raise them if the archive is sound",
        ),
    ],
)
def test_an_archive_that_is_no_corpus_is_refused(tmp_path, texts, langs, code, said):
    limits = ReadLimits(expansion_floor_bytes=1_000)
    with pytest.raises(InputError) as refused:
        make_plan([corpus(archive(tmp_path, texts), *langs)], limits)
    assert refused.value.code == code
    assert said in refused.value.message


def test_a_damaged_archive_is_refused(tmp_path):
    path = archive(tmp_path)
    data = bytearray(path.read_bytes())
    path.write_bytes(data[:-30])
    with pytest.raises(InputError, match="zip_corrupt"):
        make_plan([corpus(path, "en", "cs")])
    data[data.index(b"Books.cs-en.cs") + 20] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InputError, match="zip_corrupt"):
        make_plan([corpus(path, "en", "cs")])


def test_an_archive_that_changed_since_the_plan_is_an_error(tmp_path):
    path = archive(tmp_path)
    (unit,) = make_plan([corpus(path, "en", "cs")]).units
    archive(tmp_path, {**TEXTS, "LICENSE": "none"})
    with pytest.raises(WorkerError, match="changed since the plan"):
        list(read_unit(unit, ReadLimits()))


def test_lines_are_checked_as_those_of_any_text(tmp_path):
    texts = {"a.en": b"ok\n\xff\n", "a.de": b"gut\nschlecht\n"}
    rows = read_all(corpus(archive(tmp_path, texts), "en", "de"))
    assert reasons(rows)[1] == "invalid_utf8"


def test_batches_have_the_rows_that_are_asked_for(tmp_path):
    texts = {name: "".join(f"{n}\n" for n in range(50)) for name in ("a.en", "a.de")}
    (unit,) = make_plan([corpus(archive(tmp_path, texts), "en", "de")]).units
    assert [batch.num_rows for batch in read_unit(unit, ReadLimits(), 20)] == [20, 20, 10]
    assert dataclasses.replace(unit, rows=50) == unit
