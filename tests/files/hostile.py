"""What tests of damaged files share: judgments, a run, and what a command says."""

from rankbounds.cli import main

QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n"
LINES = "".join(f"{topic} Q0 d{number} {number} {3000 - number} tag\n" for topic in (1, 2) for number in range(1, 2001))


def write_qrels(folder):
    """A file of judgments in this folder."""
    path = folder / "qrels"
    path.write_text(QRELS)
    return path


def outcome(capsys, *arguments):
    """The exit code of a command, and what it said on standard error."""
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr().err


def refused(capsys, *arguments):
    """The one sentence with which a command refuses bad data."""
    code, told = outcome(capsys, *arguments)
    assert code == 3, told
    assert told.startswith("rankbounds: ")
    assert told.count("\n") == 1
    assert all(character >= " " for character in told[:-1])
    return told
