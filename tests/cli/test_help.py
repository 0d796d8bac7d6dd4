# SPDX-License-Identifier: GPL-2.0-only
"""The help texts as English: each is read once, on a terminal of 80 columns."""
import os
import re
import sys

import pytest

from harness.process import TOP, run

COLUMNS = 80
# How the text of an option may begin: with what the option makes kaa do.
VERBS = set("""accept activate add ask choose collapse compare compress compute copy count cut deactivate demangle draw end examine
    exclude expand follow group hide include keep leave limit list look map merge open print put read record remove run
    sample save send set show sort split start stop take unwind use wait write browse complete""".split())
# Phrases that had to be read twice, and words that the field has another word for.
BAD = [r"not even '", r"let these functions have", r"no no-", r"is not there", r"\balone\b", r"\bthe usual\b",
       r"call chain", r"folders?\b", r"for people", r"all the same", r"as it is\b", r"\btells? (about|more)\b",
       r"\bare read by\b", r"that was asked for", r"\bno \w+ not\b", r"\bhow a \w+ was made\b"]


def commands(kaa):
    listed = kaa("help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def texts(kaa):
    """Each help text there is, by the words that print it."""
    yield ("help",), kaa("help").stdout
    for name in commands(kaa):
        for words in (("help", name), (name, "--help")):
            yield words, kaa(*words).stdout


def paragraphs(text):
    """The description: what stands between the summary and the options or examples."""
    for part in text.rstrip("\n").split("\n\n")[2:]:
        if re.match(r"[A-Z][^\n]*:\n    ", part):
            return
        yield " ".join(part.split())


def options(text):
    """(names, help text) of each option."""
    found = []
    for line in text.splitlines():
        starts = re.match(r"    (-\S.*?)(?:  +(\S.*))?$", line)
        if starts:
            found.append([starts[1], starts[2] or ""])
        elif found and re.match(r" {34}\S", line):
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
        else:
            assert not re.match(r" {34}", line), line
    return found


def test_the_parser_of_this_test_sees_every_option(kaa):
    for name in commands(kaa):
        text = kaa("help", name).stdout
        complete = set(re.findall(r"^    (?:-\w, )?(?:--([\w-]+)|-(\w)\b)", text, re.M))
        assert len(options(text)) == len(complete), name


def test_lines_fit_a_terminal(kaa):
    """As in the pages, where kaa is typed so; a command that is named as it was typed is as long as that."""
    long = [(words, line) for words, text in texts(kaa) for line in text.replace(kaa.command[-1], "build/kaa").splitlines()
            if len(line) > COLUMNS]
    assert not long


def test_examples_can_be_typed(kaa):
    """Each names the program as it was typed."""
    for words, text in texts(kaa):
        examples = re.findall(r"^    (\S.*)", text.partition("\nExamples:\n")[2], re.M)
        assert all(kaa.command[-1] in line for line in examples), (words, examples)
        assert not any(re.search(r"(^| )kaa ", line) for line in examples), (words, examples)
    assert f"'{kaa.command[-1]} help <command>'" in kaa("help").stdout


def test_examples_have_no_sudo_where_there_is_none(kaa, tmp_path):
    text = kaa("help", "record", env={**os.environ, "PATH": str(tmp_path)}).stdout.partition("\nExamples:\n")[2]
    assert f"    {kaa.command[-1]} record -p 1234" in text and "sudo " not in text


def test_both_ways_to_ask_answer_alike(kaa):
    for name in commands(kaa):
        assert kaa("help", name).stdout == kaa(name, "--help").stdout


def test_every_option_says_what_it_makes_kaa_do(kaa):
    """One style for all: an imperative in lower case, no full stop at the end."""
    for name in commands(kaa):
        for names, help_text in options(kaa("help", name).stdout):
            assert help_text, (name, names)
            first = re.match(r"(?:[a-z]+: )?([A-Za-z-]+)", help_text)
            assert first and first[1] in VERBS, (name, names, help_text)
            assert not help_text.endswith("."), (name, names, help_text)


def test_summaries_are_imperatives(kaa):
    listed = kaa("help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    for line in listed.splitlines():
        name, summary = line.split(None, 1)
        assert summary.split()[0] in VERBS | {"give"}, line
        assert f"\nkaa {name}: {summary}.\n" in kaa("help", name).stdout


def test_descriptions_are_sentences(kaa):
    described = 0
    for words, text in texts(kaa):
        if words == ("help",):
            continue
        for paragraph in paragraphs(text):
            described += 1
            assert paragraph.endswith("."), (words, paragraph)
            for sentence in re.split(r"(?<=[.:]) (?=[A-Za-z'-])", paragraph):
                assert len(sentence.split()) <= 32, (words, sentence)
                assert ";" not in sentence or len(sentence.split()) <= 24, (words, sentence)
    assert described > 10


@pytest.mark.parametrize("phrase", BAD)
def test_no_bad_phrase(kaa, phrase):
    said = [*texts(kaa), (("doctor",), kaa("doctor").stdout)]
    bad = [(words, re.findall(f".*{phrase}.*", flat))
           for words, text in said for flat in [" ".join(text.split())] if re.search(phrase, flat)]
    assert not bad


def test_a_needless_argument_is_refused_in_one_plain_sentence(kaa):
    for name in ("report", "script", "inject", "version", "activate"):
        said = kaa(name, "x.data", status=129).stderr.splitlines()[0]
        assert re.fullmatch(rf"kaa {name}: unexpected argument 'x\.data'(; [a-z][^;]+)?", said), said


def test_help_of_the_python_module_fits():
    """help(kaa), and of its functions, with the signatures that pydoc writes in one line."""
    show = ("import pydoc, kaa\n"
            "for thing in (kaa, kaa.profile, kaa.activate, kaa.deactivate, kaa.is_active):\n"
            "    print(pydoc.plain(pydoc.render_doc(thing)))\n")
    text = run([sys.executable, "-c", show], cwd=TOP / "python").stdout
    lines = [line for line in text.splitlines() if not re.match(r" +/", line)]
    assert "out.data.old" in text and not [line for line in lines if len(line) > 100]
    assert "__init__(self, output='perf.data', frequency=None, mode=None, options=())" in text
