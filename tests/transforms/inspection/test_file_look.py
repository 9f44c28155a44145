"""What the look at a file finds: each kind put into clean text, at ten places, and nothing else."""

import dataclasses
import re

import numpy as np
import pytest

from pairweave.transforms.findings import KINDS, Finding
from pairweave.transforms.inspection.finding_text import finding_lines
from pairweave.transforms.inspection.look import look_at
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import CorpusInput, ReadLimits

WORDS = {
    "en": "the of and to in that for it was with his they from this have not are which",
    "de": "der und das ist nicht ein eine zu den mit von auf für sich auch dem sie werden",
}
LINES = 1_500


def sentences(language, seed=1):
    """Return sentences in a language: their lengths and names depend on the seed alone."""
    names = ["Anna", "Berlin", "Csaba", "Dublin", "Emil", "Fatima"]
    draws = np.random.default_rng(seed)
    lengths, ends = draws.integers(6, 26, LINES), draws.choice(names, LINES)
    own = np.random.default_rng([seed, len(WORDS[language])])
    words = WORDS[language].split()
    return [
        f"{' '.join(own.choice(words, length))} {end} {number}."
        for number, (length, end) in enumerate(zip(lengths, ends, strict=True))
    ]


@pytest.fixture(scope="module")
def clean():
    return sentences("en"), sentences("de")


def look(directory, source, target, languages=("en", "de"), **options):
    for name, lines in (("a.en", source), ("a.de", target)):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    corpus = CorpusInput(
        *languages,
        source_input=(str(directory / "a.en"),),
        target_input=(str(directory / "a.de"),),
        **options,
    )
    plan = make_plan([corpus], unit_rows=400)
    return list(look_at(plan.units, ReadLimits()))


def places(number=10):
    return np.sort(np.random.default_rng(number).permutation(LINES)[:number]).tolist()


def put(lines, change, number=10):
    """Return lines of which some, and their numbers from 1, are changed."""
    chosen = places(number)
    changed = list(lines)
    for place in chosen:
        changed[place] = change(changed[place])
    return changed, [place + 1 for place in chosen]


def test_nothing_is_found_in_clean_text(tmp_path, clean):
    assert look(tmp_path, *clean) == []


CHANGES = {
    "inline_tags": lambda line: f"<b>{line}</b>",
    "placeholders": lambda line: f"{line} {{0}}",
    "encoding": lambda line: f"{line} fÃ¼r",
    "c1_controls": lambda line: f"{line} \x93OK\x94",
    "empty": lambda _: "",
}


@pytest.mark.parametrize("kind", CHANGES)
def test_damage_of_single_lines_is_found_with_first_and_last(tmp_path, clean, kind):
    source, target = clean
    number = 20 if kind in ("encoding", "c1_controls") else 10
    changed, lines = put(target, CHANGES[kind], number)
    (finding,) = look(tmp_path, source, changed)
    assert finding.kind == kind
    assert (finding.first_line, finding.last_line, finding.count) == (lines[0], lines[-1], number)


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize(("sides", "named"), [("target", "a.de"), ("source", "a.en"), ("both", "")])
def test_a_finding_names_the_file_of_its_side(tmp_path, clean, kind, sides, named):
    source, target = clean
    number = 20 if kind in ("encoding", "c1_controls") else 10
    if sides != "target":
        source, _ = put(source, CHANGES[kind], number)
    if sides != "source":
        target, _ = put(target, CHANGES[kind], number)
    actual = [each for each in look(tmp_path, source, target) if each.kind == kind]
    assert {each.file for each in actual} == {named or "a.en"}
    if kind in ("encoding", "c1_controls"):
        said = ", 20 in the source and 20 in the target" in actual[0].evidence
        assert said == (sides == "both")


def test_files_of_one_name_are_told_apart_by_corpus_on_each_side(tmp_path, clean):
    source, target = clean
    for name, lines in (("a.en", source), ("a.de", put(target, CHANGES["encoding"], 20)[0])):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    files = {"source_input": (str(tmp_path / "a.en"),), "target_input": (str(tmp_path / "a.de"),)}
    corpora = [CorpusInput("en", "de", name=name, **files) for name in ("law", "news")]
    actual = look_at(make_plan(corpora).units, ReadLimits())
    assert [each.place.partition(" ")[0] for each in actual] == ["law:", "news:"]
    assert all("a.de:" in each.place for each in look_at(make_plan(corpora).units, ReadLimits()))


def test_c1_controls_in_fewer_than_one_pair_in_a_hundred_are_left_to_the_jobs(tmp_path, clean):
    source, target = clean
    assert look(tmp_path, source, put(target, CHANGES["c1_controls"], LINES // 100)[0])
    assert look(tmp_path, source, put(target, CHANGES["c1_controls"], LINES // 100 - 1)[0]) == []


@pytest.mark.parametrize(
    ("tag", "syntax"),
    [
        ('<g id="1">{}</g>', "--inline_syntax xliff"),
        ("<a_0>{}</a_0>", "--inline_syntax indexed"),
        ("<emph>{}</emph>", "--inline_tags index"),
    ],
)
def test_tags_name_the_option_that_reads_them(tmp_path, clean, tag, syntax):
    source, target = ([tag.format(line) for line in side] for side in clean)
    (finding,) = look(tmp_path, source, target)
    assert (finding.kind, finding.count) == ("inline_tags", LINES)
    assert syntax in finding.option
    assert look(tmp_path, source, target, inline_tags="strip") == [] or "xml" not in finding.option


def test_exchanged_sides_are_one_finding(tmp_path, clean):
    source, target = clean
    (finding,) = look(tmp_path, target, source)
    assert finding.kind == "exchanged_languages"
    assert "looks like de and the target like en, but en and de are given" in finding.evidence


def test_another_language_is_named_with_its_option(tmp_path, clean):
    source, target = clean
    (finding,) = look(tmp_path, source, target, ("en", "fr"))
    assert (finding.kind, finding.option) == ("other_language", "--target_lang de")
    assert finding.file.endswith("a.de")
    (finding,) = look(
        tmp_path, source, [f"где {line} это не так {line}".translate(CYRILLIC) for line in target]
    )
    assert finding.kind == "other_language"
    assert "Cyrillic" in finding.evidence


CYRILLIC = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопярстуввхыз")


def test_two_sides_in_one_language_are_seen(tmp_path, clean):
    source, _ = clean
    other = [f"and for the {line}" for line in source]
    (finding,) = look(tmp_path, source, other, ("en", "und"))
    assert finding.kind == "one_language"


@pytest.mark.parametrize("languages", [("und", "und"), ("en", "de")])
def test_a_target_in_the_language_of_the_source_is_told_as_such(tmp_path, clean, languages):
    source, _ = clean
    actual = look(tmp_path, source, [f"and for the {line}" for line in source], languages)
    assert "one_language" in {finding.kind for finding in actual}
    assert ("other_language" in {finding.kind for finding in actual}) == (languages[1] == "de")


def kana(lines):
    """Return lines of kana with some Han, every second one without kana."""
    return [
        f"設定画面{len(line)}選択" if number % 2 else f"ファイルをひらく {len(line)}"
        for number, line in enumerate(lines)
    ]


def han(lines):
    return [f"打开文件的设置{len(line)}" for line in lines]


@pytest.mark.parametrize(("make", "language"), [(kana, "ja"), (han, "zh"), (han, "ja")])
def test_the_scripts_of_one_language_are_not_several(tmp_path, clean, make, language):
    source, _ = clean
    actual = look(tmp_path, source, make(source), ("en", language))
    assert not {"mixed_languages", "other_language"} & {finding.kind for finding in actual}


@pytest.mark.parametrize(
    ("make", "language", "look_of_it"),
    [(kana, "de", "Japanese"), (kana, "ko", "Japanese"), (han, "de", "Han")],
)
def test_text_in_han_or_kana_is_in_no_other_language(tmp_path, clean, make, language, look_of_it):
    source, _ = clean
    actual = look(tmp_path, source, make(source), ("en", language))
    (finding,) = [each for each in actual if each.kind == "other_language"]
    assert f"looks like {look_of_it}, but {language} is given" in finding.evidence


@pytest.mark.parametrize(("make", "language"), [(kana, "ja"), (han, "zh")])
def test_exchanged_sides_of_han_and_kana_are_told(tmp_path, clean, make, language):
    source, _ = clean
    actual = look(tmp_path, make(source), source, ("en", language))
    assert [each.kind for each in actual if "lang" in each.kind] == ["exchanged_languages"]


def test_a_side_in_chinese_and_japanese_is_mixed(tmp_path, clean):
    source, _ = clean
    target = [*han(source[:1_000]), *[f"ファイルをひらく {line[-5:]}" for line in source[1_000:]]]
    actual = look(tmp_path, source, target, ("en", "zh"))
    assert "mixed_languages" in {finding.kind for finding in actual}


def test_a_side_in_two_languages_is_seen(tmp_path, clean):
    source, target = clean
    mixed = [*target[:1_000], *source[1_000:]]
    actual = look(tmp_path, source, mixed)
    assert {finding.kind for finding in actual} == {"mixed_languages", "copied"}
    (finding,) = [each for each in actual if each.kind == "mixed_languages"]
    assert finding.first_line == 1_001
    assert finding.file.endswith("a.de")
    assert "de 67%, en 33%" in finding.evidence


def test_a_side_of_which_no_language_has_most_is_mixed(tmp_path, clean):
    source, target = clean
    french = "le la les des est pour dans que qui une sur pas plus avec sont"
    draws = np.random.default_rng(3)
    other = [f"{' '.join(draws.choice(french.split(), 12))} {number}." for number in range(500)]
    mixed = [*target[:500], *source[500:1_000], *other]
    actual = look(tmp_path, source, mixed)
    (finding,) = [each for each in actual if each.kind == "mixed_languages"]
    assert {"de 33%", "en 33%", "fr 33%"} <= set(re.findall(r"\w+ \d+%", finding.evidence))
    actual = look(tmp_path, source, mixed, ("en", "cy"))
    assert "mixed_languages" not in {each.kind for each in actual}


def test_repeated_pairs_and_sides_are_counted(tmp_path, clean):
    source, target = clean
    again = [[*side[:1_300], *side[:200]] for side in clean]
    (finding,) = look(tmp_path, *again)
    assert (finding.kind, finding.count, finding.first_line) == ("duplicates", 200, 1_301)
    changed, lines = put(target, lambda _: "Diese Seite ist nicht da.", 120)
    (finding,) = look(tmp_path, source, changed)
    assert (finding.kind, finding.count) == ("repeated_side", 120)
    assert finding.file.endswith("a.de")
    assert (finding.first_line, finding.last_line) == (lines[0], lines[-1])


def test_a_block_in_another_order_and_a_moved_one_are_named_by_lines(tmp_path, clean):
    source, target = clean
    block = np.random.default_rng(1).permutation(target[300:500]).tolist()
    changed = [
        *target[:300],
        *block,
        *target[500:900],
        *target[901:1_100],
        "Noch eine.",
        *target[1_100:],
    ]
    actual = look(tmp_path, source, changed)
    assert [finding.kind for finding in actual] == ["misaligned", "moved"]
    assert abs(actual[0].first_line - 301) <= 3
    assert abs(actual[0].last_line - 500) <= 3
    assert "the target is 1 line ahead" in actual[1].evidence
    assert abs(actual[1].first_line - 901) <= 3
    assert abs(actual[1].last_line - 1_100) <= 3


@pytest.mark.parametrize("late", [1, -1])
def test_of_a_file_that_has_moved_as_a_whole_no_rest_is_told(tmp_path, clean, late):
    source, target = clean
    moved = [*target[1:], "Noch eine."] if late < 0 else ["Noch eine.", *target[:-1]]
    (finding,) = look(tmp_path, source, moved)
    assert (finding.kind, finding.count) == ("moved", LINES)
    said = rf"from line 1 to 1,500 the target is 1 line {'ahead' if late < 0 else 'behind'} \("
    said += r"evidence -?\d\.\d per pair, -?\d\.\d between random lines\)"
    assert re.fullmatch(said, finding.evidence)


def test_findings_on_one_pair_agree_with_it(tmp_path):
    (finding,) = look(tmp_path, ["a house"], [""])
    assert (finding.kind, finding.evidence) == ("empty", "1 pair has an empty side")
    (finding,) = look(tmp_path, ["a house"], ["ein H\ufffdus"])
    assert finding.evidence.startswith("1 of 1 pair contains U+FFFD")
    many = look(tmp_path, ["a house"] * 150, ["ein Haus"] * 150)
    assert "149 of 150 pairs repeat an earlier one, so that 1 remains;" in many[0].evidence


def test_untranslated_entries_are_apart_from_what_cannot_be_read(tmp_path):
    entries = [
        'msgid "{}"\nmsgstr ""\n',
        'msgid "{}"\nmsgstr ""\n',
        '#, fuzzy\nmsgid "{}"\nmsgstr "vielleicht"\n',
        'msgid "{}"\nmsgstr "a\\001b"\n',
        'msgid "{}"\nmsgstr "ja"\n',
        '#~ msgid "{}"\n#~ msgstr "alt"\n',
    ]
    texts = [entry.format(number) for number, entry in enumerate(entries)]
    (tmp_path / "a.po").write_text("\n".join(texts))
    plan = make_plan([CorpusInput("en", "de", input=(str(tmp_path / "a.po"),))])
    actual = look_at(plan.units, ReadLimits())
    assert [(each.kind, each.count, each.evidence.partition(" (")[0]) for each in actual] == [
        ("unreadable", 1, "1 of 6 rows cannot be read as pairs: control_char"),
        ("untranslated", 1, "1 of 6 rows has a translation that is marked as doubtful"),
        ("unreadable", 1, "1 of 6 rows is left out: obsolete"),
        ("untranslated", 2, "2 of 6 rows are not translated"),
    ]
    take = {"po_take": ("fuzzy", "obsolete")}
    corpus = CorpusInput("en", "de", input=(str(tmp_path / "a.po"),), format_options=take)
    actual = look_at(make_plan([corpus]).units, ReadLimits())
    assert [each.kind for each in actual] == ["unreadable", "untranslated"]


def test_lines_that_cannot_be_read_keep_the_others_in_place(tmp_path, clean):
    source, target = clean
    changed, lines = put(target, lambda line: f"{line}\x01")
    (finding,) = look(tmp_path, source, changed)
    assert (finding.kind, finding.count, finding.first_line) == ("unreadable", 10, lines[0])
    assert "control_char" in finding.evidence
    assert finding.file.endswith("a.de")
    both, _ = put(source, lambda line: f"{line}\x01", 3)
    actual = look(tmp_path, both, changed)
    assert [each.file[-4:] for each in actual] == ["a.de", "a.en"]
    assert sum(each.count for each in actual) == len({*places(10), *places(3)})
    assert "first: " not in finding.evidence
    assert finding.option == ""


def test_text_of_another_encoding_is_told_with_its_remedy(tmp_path, clean):
    source, target = clean
    (tmp_path / "a.en").write_text("".join(f"{line}\n" for line in source))
    (tmp_path / "a.de").write_bytes(
        "".join(f"\xfc {line}\n" for line in target).encode("cp1252", "replace")
    )
    files = CorpusInput(
        "en", "de", source_input=(str(tmp_path / "a.en"),), target_input=(str(tmp_path / "a.de"),)
    )
    (finding,) = look_at(make_plan([files], ReadLimits()).units, ReadLimits())
    assert (finding.kind, finding.count) == ("unreadable", len(target))
    assert "invalid_utf8 (first: target: 0xFC at byte 0 of the line" in finding.evidence
    assert "iconv -f WINDOWS-1252 -t UTF-8" in finding.option


def test_one_finding_in_many_files_is_shown_once():
    findings = [
        Finding("empty", f"{name}.en", 3, 9, count, f"{count} pairs have an empty side")
        for count, name in enumerate("abcde")
    ]
    assert list(finding_lines([*findings, Finding("empty", "x.en", 1, 1, 2, "all are empty")])) == [
        f"empty: {KINDS['empty']}",
        "  a.en:3-9, and in 4 other files",
        "    0 pairs have an empty side",
        "  x.en:1",
        "    all are empty",
    ]
    assert len(list(finding_lines(findings[:3]))) == 7
    moved = [dataclasses.replace(finding, kind="moved") for finding in findings]
    assert len(list(finding_lines(moved))) == 11


def test_findings_are_shown_by_kind_and_as_json():
    finding = Finding("empty", "a.en", 3, 9, 2, "2 pairs have an empty side", "none")
    assert list(finding_lines([finding])) == [
        f"empty: {KINDS['empty']}",
        "  a.en:3-9",
        "    2 pairs have an empty side",
        "    -> none",
    ]
    assert str(finding) == "a.en:3-9: 2 pairs have an empty side; none [empty]"
    assert Finding(**finding.as_json()) == finding
