"""What a user gets: the wheel and the sdist in a fresh environment, tried from an empty folder.

    python tests/installed.py DIST [CONSTRAINTS]

installs the one wheel of the folder DIST with all that it needs and tries it, then the one sdist in its place.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

#: Commands in the order in which a new user gives them, each with what it must say.
TRIED = {
    "--version": "budgetbench ",
    "list configs": "usps_noise10 ",
    "list configs quickstart": "site-packages",
    "run quickstart --only perceptron --permutations 1 --jobs 1": "1 runs done now, 0 before",
    "run quickstart --only perceptron --permutations 1 --jobs 1 --quiet": "",
    "list algorithms forgetron": "the number B of examples that are stored at most",
    "table --format markdown": "Perceptron",
    "plot": "error_vs_support.pdf",
    "report": "report.html",
    "check --format csv": "weston2005",
    "cite": "@article{rosenblatt1958,",
    "pack results/quickstart": "written to quickstart.zip",
    "run --from quickstart.zip --only perceptron --results again --jobs 1": "1 with the same numbers, 0 not",
    "new mine --from quickstart_digits": "budgetbench run mine",
    "validate mine": "mine: ok",
    "run mine --dry-run": "to run",
    "fetch digits": "nothing to fetch",
    "schema": "json-schema.org",
}
#: So many of them tell that the sdist, of which the wheel was built, holds the same.
ENOUGH = 4


def main(dist: Path, constraints: Path | None) -> None:
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "venv"
        venv.create(environment, with_pip=True)
        programs = environment / ("Scripts" if os.name == "nt" else "bin")
        pip = [str(programs / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        pinned = ["--constraint", str(constraints.resolve())] if constraints else []
        instead = ["--force-reinstall", "--no-deps"]
        # Nothing is compiled before it is used, which saves half of the time.
        for what, more, tried in ((wheel, pinned, len(TRIED)), (sdist, instead, ENOUGH)):
            start = time.monotonic()
            subprocess.run([*pip, "--no-compile", *more, str(what.resolve())], env=clean(), check=True)
            installed = time.monotonic()
            try_out(programs / "budgetbench", Path(folder) / what.suffix.strip("."), list(TRIED)[:tried])
            print(f"{what.name}: {installed - start:.0f} s to install, {time.monotonic() - installed:.0f} s to try")


def clean() -> dict[str, str]:
    """The environment without what would let Python or the program find more than is installed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BUDGETBENCH_", "PYTHON"))}
    return kept | {"COLUMNS": "200"}


def try_out(program: Path, empty: Path, commands: list[str]) -> None:
    """Give these commands; what fails ends it all, with what was said."""
    empty.mkdir()
    for command in commands:
        expected = TRIED[command]
        done = subprocess.run(
            [program, *command.split()], cwd=empty, env=clean(), capture_output=True, text=True, encoding="utf-8"
        )
        if done.returncode or expected not in done.stdout:
            sys.exit(
                f"budgetbench {command}: exit code {done.returncode}, without {expected!r}\n{done.stdout}{done.stderr}"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
