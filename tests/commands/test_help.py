"""What the program says of itself: a greeting, commands by question, what was meant, completion."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
from inspect import signature

import pytest

from many_runs import write_collection
from rankbounds import commands
from rankbounds.cli import build_parser, main, parse
from rankbounds.commands import COMMANDS as LISTED
from rankbounds.commands import known_commands
from rankbounds.commands.console import reading, scoring
from rankbounds.commands.console.help import SHELLS, TO_TYPE, by_question, completion_script
from rankbounds.commands.console.options import GROUPS
from rankbounds.commands.console.output import LOOKS, TERMINAL
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.question import Question


@pytest.mark.parametrize("behind", [False, True])
def test_measures_that_blanks_separate(command, tmp_path, monkeypatch, behind):
    files = write_collection(tmp_path, ["one", "two"])
    measures = ("-m", "nDCG@10", "map")
    code, out, err = command("evaluate", *((*files, *measures) if behind else (*measures, *files)))
    assert (code, out) == (2, "")
    assert '"map" is a measure' in err
    assert "-m nDCG@10,map" in err
    (files[1] / "000.txt").rename(tmp_path / "AP")
    monkeypatch.chdir(tmp_path)
    assert command("evaluate", "qrels", "AP", "-m", "AP")[0] == 0


def test_alone_it_greets(command):
    code, out, err = command()
    assert (code, err) == (0, "")
    tried = re.findall(r"^  rankbounds (\S+)", out, re.M)
    assert tried == ["demo", "evaluate", "compare"]
    assert max(map(len, out.splitlines())) <= 80


def test_help_has_every_command_under_one_question(capsys, monkeypatch):
    listed = {
        question: [each.name for each in several]
        for question, several in by_question(known_commands().values()).items()
    }
    assert list(listed) == list(LISTED)
    assert sorted(name for names in listed.values() for name in names) == sorted(known_commands())
    for width in (80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        with pytest.raises(SystemExit):
            main(["--help"])
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= width
        assert [line for line in shown.splitlines() if line in LISTED] == list(LISTED)
        assert re.findall(r"^  ([a-z][\w-]*(?: [a-z]+)?)  ", shown, re.M) == [
            name for names in listed.values() for name in names
        ]


def test_every_command_has_a_line_in_the_table():
    """What help shows without importing anything is the beginning of each command's docstring."""
    listed = {name: entry for several in LISTED.values() for name, entry in several.items()}
    declared = {}
    modules = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    for module in modules:
        importlib.import_module(f"rankbounds.commands.{module}")
    for (module, name), (_, function) in commands._declared.items():
        if (stem := module.removeprefix("rankbounds.commands.")) in modules:
            declared[name] = (stem, function.__doc__.splitlines()[0].rstrip("."))
    lines = [f'"{name}": {entry!r},' for name, entry in declared.items() if listed.get(name) != entry]
    assert not lines, "in COMMANDS of src/rankbounds/commands/__init__.py there should be:\n" + "\n".join(lines)
    assert not listed.keys() - declared.keys(), "in COMMANDS, but no function declares them"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["evalute", "a", "b"], "evaluate"),
        (["judgenext"], "judge-next"),
        (["evaluate", "--fromat", "csv", "a", "b"], "--format"),
        (["compare", "--baselin-run=x"], "--baseline-run"),
        (["--verison"], "--version"),
    ],
)
def test_suggestions(command, arguments, meant):
    code, out, err = command(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f'Did you mean "{meant}"?' in err


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The scripts of all shells."""
    pytest.importorskip("shtab", reason="completion is made by shtab: pip install shtab")
    folder = tmp_path_factory.mktemp("completion")
    for shell in SHELLS:
        (folder / f"rankbounds.{shell}").write_text(completion_script(build_parser(), shell))
    return folder


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_sound(scripts, shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([program, "-n", scripts / f"rankbounds.{shell}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_options_measures_and_files(scripts, tmp_path):
    (tmp_path / "qrels.txt").write_text("")
    lines = {
        "ev": "evaluate", "evaluate --form": "--formats --format",
        "evaluate qrels.txt qrels.txt --format pa": "parquet",
        "evaluate qrels.txt qrels.txt -m nDCG@": "nDCG@10", "evaluate qr": "qrels.txt", "--completion f": "fish",
        "compare --ties exp": "expected", "evaluate qrels.txt qr": "qrels.txt", "rbp cr": "crossings",
        "rbp depth --dig": "--digits",
    }  # fmt: skip
    asked = "\n".join(f"COMP_WORDS=(rankbounds {line}); ask" for line in lines)
    done = subprocess.run(
        ["bash", "--norc", "-c", f"source {scripts / 'rankbounds.bash'}\n"
         'ask() { COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _shtab_rankbounds; echo "${COMPREPLY[*]}"; }\n'
         f"{asked}\n"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == list(lines.values())


def test_completion_of_other_shells_is_told(command):
    code, out, err = command("--completion", "ksh")
    assert (code, out) == (2, "")
    assert "bash, zsh, fish" in err


# ---- help of commands ----

COMMANDS = known_commands()


def shown(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert end.value.code == 0
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "files"
    assert main(["demo", "--write", str(folder), "--quiet", "-o", os.devnull]) == 0
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_runs_on_the_demo_data(command, demo, tmp_path, monkeypatch, name):
    for file in demo.iterdir():
        (shutil.copytree if file.is_dir() else shutil.copy)(file, tmp_path / file.name)
    monkeypatch.chdir(tmp_path)
    answer, examples, _ = COMMANDS[name].parts
    assert answer
    assert len(examples) == 2
    for example in examples:
        assert len(example) <= 76
        program, *words = shlex.split(example)
        assert (program, words[: name.count(" ") + 1]) == ("rankbounds", name.split())
        if name in ("serve", "mcp"):  # which would not end
            assert parse(words).command == name
        else:
            code, out, err = command(*words)
            assert (code, out or err) != (0, ""), example
            assert code == 0, (example, err)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short_and_in_groups(capsys, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    brief, whole = shown(capsys, *name.split(), "--help"), shown(capsys, *name.split(), "--help-all")
    assert shown(capsys, *name.split(), "-h") == brief
    for text in (brief, whole):
        assert max(map(len, text.splitlines())) <= 80
        groups = re.findall(r"^([a-z ]+):$", text, re.M)
        assert groups == ["examples", *(group for group in GROUPS if group in groups)]
    assert len(brief.splitlines()) <= 58
    options = (*COMMANDS[name].load()[0], *TERMINAL)
    assert {option.group for option in options} <= {*GROUPS}
    for option in options:
        assert option.usage in whole
        assert (f"  {option.usage}" in brief) == option.everyday or option.usage in brief
    for flag in ("-o", "--format", "--measure"):
        assert (f"{flag} " in brief) == (f"{flag} " in whole)


EVERYWHERE = (*scoring.ASSUMING, *reading.READING_RUNS, *reading.READING, reading.CALIBRATE, *LOOKS, *TERMINAL)
"""What many commands take, declared once and counted once."""


def test_commands_have_few_options():
    known = {option.flags[-1] for option in EVERYWHERE}
    own = {
        name: [option for option in each.load()[0] if option.flags and option.flags[-1] not in known]
        for name, each in COMMANDS.items()
    }
    assert {name: len(options) for name, options in own.items() if len(options) > 30} == {}
    assert sum(map(len, own.values())) + len(known) <= 292


def test_options_have_the_defaults_of_what_they_set():
    for declared, options in ((Assumptions, scoring.ASSUMING), (Question, scoring.TESTS)):
        parameters = signature(declared).parameters
        defaults = {option.dest: option.default for option in options if option.dest in parameters}
        assert len(defaults) >= 7
        assert defaults == {name: parameters[name].default for name in defaults}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_many_commands_take_is_explained_by_one(capsys, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "999")
    whole = shown(capsys, *name.split(), "--help-all")
    declared = {option.usage: option for option in COMMANDS["evaluate"].load()[0]}
    for option in COMMANDS[name].load()[0]:
        if option.explained_by == "evaluate":
            explained = option.everyday or name == "evaluate"
            assert option.usage in declared
            assert (option.help in whole) == explained
            assert bool(re.search(rf"  {re.escape(option.usage)}\s+as in evaluate", whole)) != explained


def test_help_of_rbp_lists_its_commands(capsys):
    for words in (["rbp"], ["rbp", "--help"]):
        listed = re.findall(r"^  (rbp \w+) ", shown(capsys, *words), re.M)
        assert sorted(listed) == [name for name in COMMANDS if name.startswith("rbp ")]


def test_old_names_of_rbp_commands_lead_to_the_new_ones(command):
    for name in ("transfer", "crossings", "depth", "persistence", "contributions"):
        assert command(name, "0.4")[2] == f'rankbounds: {name} is "rankbounds rbp {name}".\n'
    code, _, err = command("rbp", "crosings", "qrels")
    assert (code, err.count("\n")) == (2, 1)
    assert 'Did you mean "rbp crossings"? "rankbounds rbp --help"' in err


@pytest.mark.parametrize("word", TO_TYPE)
def test_words_that_are_no_commands_lead_to_one(command, word):
    code, out, err = command(word, "qrels.txt", "runs")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f'type "rankbounds {TO_TYPE[word]}".' in err
    words = shlex.split(TO_TYPE[word])
    if words[0] in COMMANDS:
        assert parse(words).command == words[0]
    else:
        assert words[0] in ("--help", "--version", "--completion")


def test_files_and_measures_are_no_commands(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    assert 'type "rankbounds evaluate qrels.txt runs"' in command("qrels.txt", "runs")[2]
    assert 'type "rankbounds evaluate qrels.txt runs -m ndcg"' in command("ndcg")[2]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["-k", "10"], "-m nDCG@10"),
        (["--cutoff", "10"], "-m nDCG@10"),
        (["--json"], '"--format json"'),
        (["--metric", "AP"], '"--measure"'),
        (["--metrics=AP"], '"--measure"'),
        (["--confidnce"], '"--confidence"'),
        (["-x"], 'no option "-x"'),
        (["--wibble"], 'no option "--wibble"'),
    ],
)
def test_unknown_options_lead_to_this_command(command, words, hint):
    code, out, err = command("evaluate", "qrels.txt", "run.txt", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert hint in err
    assert err.endswith('See "rankbounds evaluate --help".\n')


def test_a_command_of_two_words_is_two_arguments(capsys):
    assert main(["rbp depth", "qrels.txt"]) == 2
    assert (
        capsys.readouterr().err == 'rankbounds: "rbp depth" is two words: type rankbounds rbp depth, without quotes.\n'
    )
