"""What is left to do for a release; ends with an error where something that comes before is not done."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from budgetbench.version import __version__

PROJECT = Path(__file__).parents[1]


def undone() -> list[str]:
    """What keeps this version from being released."""
    changes = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    cited = (PROJECT / "CITATION.cff").read_text(encoding="utf-8")
    tags = subprocess.run(["git", "tag", "--list"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    state = subprocess.run(["git", "status", "--short"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    checks = {
        f"CHANGELOG.md has no heading {__version__} with a date": re.search(
            rf"^## {re.escape(__version__)} \(\d{{4}}-\d\d-\d\d\)$", changes, re.MULTILINE
        ),
        "CHANGELOG.md has changes under Unreleased, which belong to this version": not re.search(
            r"^## Unreleased\n+(?!## )\S", changes, re.MULTILINE
        ),
        f"CITATION.cff is not about {__version__}": f"\nversion: {__version__}\n" in cited,
        f"the tag v{__version__} is there already: raise budgetbench/version.py": f"v{__version__}" not in tags.split(),
        "there are changes that are not committed": not state,
    }
    return [problem for problem, passed in checks.items() if not passed]


if __name__ == "__main__":
    problems = undone()
    if problems:
        sys.exit("\n".join(["Not ready:", *(f"  {problem}" for problem in problems)]))
    print(f"""Built and checked: dist/ holds version {__version__}. What is left to do by hand:
  git tag --annotate v{__version__} --message {__version__}
  git push origin v{__version__}
  .venv/bin/twine upload dist/*""")
