"""Every command explains itself with examples that name options that it has."""

import re
import shlex

import pytest
from typer.main import get_command

from sordino.cli.app import app


def leaves(command, words=()):
    inner = getattr(command, "commands", None)
    if inner is None:
        yield words, command
    else:
        for name, child in inner.items():
            yield from leaves(child, (*words, name))


COMMANDS = dict(leaves(get_command(app)))


def examples(command):
    """The lines of a help that begin with the program, continuations joined."""
    text = re.sub(r"\\\n\s+", "", command.help)
    return [
        shlex.split(line) for line in re.findall(r"^ +(sordino .*?)(?: {3,}.*| > .*)?$", text, re.MULTILINE)
    ]


def find(words):
    """The command that a line runs, and what it is given."""
    for length in (2, 1):
        if tuple(words[:length]) in COMMANDS:
            return COMMANDS[tuple(words[:length])], words[length:]
    raise AssertionError(f"no such command: {words}")


def test_there_are_commands():
    assert {("query",), ("series", "open"), ("ledger", "show")} <= set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_examples_and_json(words):
    command = COMMANDS[words]
    shown = examples(command)
    assert any(tuple(line[1 : len(words) + 1]) == words for line in shown), command.help
    assert any("--json" in parameter.opts for parameter in command.params)
    for line in shown:
        asked, given = find(line[1:])
        options = {name for parameter in asked.params for name in parameter.opts} | {"--help"}
        for word in given:
            if re.match(r"--?[a-z]", word):
                assert word in options, f"{' '.join(line)}: {word}"
