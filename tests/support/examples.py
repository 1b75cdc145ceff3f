"""Examples in Markdown: the fenced blocks of a page, and how a reader would go through them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: The first line of a block that is a file.
NAMED = re.compile(r"# ([\w./]+\.\w+)\n")
#: A command of its own, for blocks that call it.
COMMAND = f'#!/bin/sh\nexec "{sys.executable}" -m budgetbench "$@"\n'


class Block(NamedTuple):
    """A fenced block; `name` is that of the file which it is, if it is one."""

    language: str
    name: str
    text: str


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in their order."""
    found = []
    for language, text in FENCED.findall(page):
        named = NAMED.match(text)
        found.append(Block(language, named[1] if named else "", text))
    return found


def files(page: str, pattern: str) -> list[tuple[str, str]]:
    """Name and content, without the line that names it, of each file whose name is of this pattern."""
    return [(one.name, one.text.split("\n", 1)[1]) for one in blocks(page) if re.fullmatch(pattern, one.name)]


def follow(page: str, folder: Path) -> list[str]:
    """Do in a folder what a page says: write its files, run its programs and its commands, one after the other.

    Returns
    -------
    What went wrong: commands that failed, and lines that a page shows and a command did not print.
    """
    bin_ = folder.parent / "bin"
    bin_.mkdir()
    (bin_ / "budgetbench").write_text(COMMAND, encoding="utf-8")
    (bin_ / "budgetbench").chmod(0o755)
    (bin_ / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    (bin_ / "python").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BUDGETBENCH_")}
    environment |= {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(PROJECT), "COLUMNS": "150"}
    problems = []

    def run(command: list[str]) -> str:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
        if done.returncode:
            problems.append(f"{command[-1]}\n{done.stdout}{done.stderr}")
        return done.stdout

    for block in blocks(page):
        if block.name:
            (folder / block.name).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run([sys.executable, "-c", block.text])
        elif block.language == "console":
            printed = ""
            for line in block.text.splitlines():
                if line.startswith("$ "):
                    printed = run(["sh", "-c", line.removeprefix("$ ")])
                elif line not in printed:
                    problems.append(f"not printed: {line}\n{printed}")
    return problems
