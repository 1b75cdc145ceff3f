"""The pages that state results, made of the committed results: README.md, results/README.md and the replication.

    python docs/pages.py

A page is a template in `docs/pages`: text, and in it what `facts.py` hands out, so that no number of a result is typed.
Where a sentence says more than a number ("at every size"), the line above it says what must be so, `{% do given(…) %}`:
where it no longer is, the page is not made, and the error names the line. `docs/replication.pdf` is the replication
typeset by pandoc and Typst (`pip install '.[docs]'`), the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import facts
import jinja2

from budgetbench.datasets.usps import SMOOTHING

DOCS = Path(__file__).resolve().parent
TEMPLATES = DOCS / "pages"
#: Template to the page that is made of it.
PAGES = {"README.md": "README.md", "results.md": "results/README.md", "replication.md": "docs/replication.md"}
PAGES |= {"readings.md": "results/readings/README.md"}
ARTICLE, PDF = "replication.md", DOCS / "replication.pdf"
LAYOUT = TEMPLATES / "article.typ"

#: What the experiments are called in tables.
SHORT = {"fig4_mnist": "MNIST", "fig4_usps": "USPS", "fig4_letter": "letter", "adult9": "Adult9", "synthetic": "clouds"}
SHORT |= {"usps": "USPS", "usps_noise10": "noisy USPS", "waveform": "Waveform", "banana": "Banana"}
SHORT |= {"usps_runs": "USPS (more runs)", "usps_noise10_runs": "noisy USPS (more runs)"}
SHORT |= {"fig6": "Fig. 6", "fig7": "Fig. 7", "fig8": "Fig. 8", "fig13": "USPS"}

FIGURE = re.compile(r"!\[[^\]]*\]\(\.\./([^)]+)\.png\)")
DRAWN = re.compile(rf"^(?:{FIGURE.pattern} ?)+$", re.MULTILINE)

#: How the layout sets paragraphs that begin so.
SETTINGS = {
    "by": r"#emph\[",
    "abstract": r"#strong\[Abstract\.\]",
    "below": r"#strong\[Figure \d+\.\]",
    "over": r"#strong\[Table \d+\.\]",
}
MARKDOWN = "markdown_strict+pipe_tables+raw_attribute+backtick_code_blocks+intraword_underscores"


class PageError(Exception):
    """A page cannot be made: it says what is no longer so, or asks for what is not there."""


def given(condition: object) -> None:
    """What the sentence below rests on."""
    if not condition:
        raise PageError("what is given here is no longer so: look at the results, and mend the sentence below it")


def places(value: float, digits: int = 0) -> str:
    """A number as it is printed: with so many decimals, and a minus sign that is one."""
    return f"{value:.{digits}f}".replace("-", "−")


def listed(items: Sequence[object], conjunction: str = "and") -> str:
    """Several in words: 25, 70 and 100."""
    *first, last = map(str, items)
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def render(page: str) -> str:
    """The text of a page, from its template.

    Raises
    ------
    PageError : it says what is no longer so, or asks for what the results do not hold.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        extensions=["jinja2.ext.do"],
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown
    )
    environment.filters |= {"listed": listed, "places": places}
    asked = [facts.above, facts.claims, facts.experiment, facts.has, facts.papers, facts.states, facts.under]
    asked += [facts.verdict, facts.verdicts, given]
    environment.globals |= {"SHORT": SHORT, "SMOOTHING": SMOOTHING, "STATES": facts.STATES}
    environment.globals |= {function.__name__: function for function in asked}
    try:
        return environment.get_template(page).render()
    except jinja2.TemplateSyntaxError as error:
        raise PageError(f"docs/pages/{page}, line {error.lineno}: {error}") from error
    except (PageError, facts.FactError, jinja2.TemplateError) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(page)]
        raise PageError(f"docs/pages/{page}, line {lines[-1]}: {error}") from error


def digest(markdown: str) -> str:
    """Of all that the article's PDF is made of; it is among the keywords of the PDF."""
    figures = [DOCS.parent / f"{figure}.pdf" for figure in FIGURE.findall(markdown)]
    parts = [markdown.encode(), *(path.read_bytes() for path in (LAYOUT, *figures))]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def typeset(markdown: str) -> bytes:
    """The article as PDF, with its figures as drawings."""
    import pypandoc
    import typst

    drawn = DRAWN.sub(lambda line: f"```{{=typst}}\n#drawn({_paths(line[0])})\n```", markdown)
    drawn = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", drawn)
    # not gfm, of whose tables all columns are alike: here dashes tell the widths where a row is longer than this
    body = pypandoc.convert_text(drawn, "typst", format=MARKDOWN, extra_args=["--wrap=none", "--columns=110"])
    for setting, start in SETTINGS.items():
        body = re.sub(rf"^{start}.*$", lambda line, how=setting: f"#{how}[{line[0]}]", body, flags=re.MULTILINE)
    layout = LAYOUT.read_text(encoding="utf-8").replace("DIGEST", digest(markdown))
    return typst.compile((layout + body).encode(), root=DOCS.parent, ignore_system_fonts=True)


def _paths(line: str) -> str:
    return ", ".join(f'"/{figure}.pdf"' for figure in FIGURE.findall(line))


def main() -> None:
    texts = {page: render(page) for page in PAGES}  # all or none
    for page, text in texts.items():
        (DOCS.parent / PAGES[page]).write_text(text, encoding="utf-8")
    PDF.write_bytes(typeset(texts[ARTICLE]))


if __name__ == "__main__":
    try:
        main()
    except PageError as error:
        sys.exit(f"error: {error}")
