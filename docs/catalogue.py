"""The pages of the site that are made when it is built: one for each learner, dataset, kernel, figure and command.

What they say is taken from the registries, docstrings and declared parameters, so that nothing is told twice and
nothing has to be kept up to date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from budgetbench import document, parameters, shipped
from budgetbench.cli.app import application
from budgetbench.cli.explaining import TOLD
from budgetbench.config import language
from budgetbench.learners import learners
from budgetbench.parameters import Parameters
from budgetbench.verdicts.words import RULE

ROOT = Path(__file__).resolve().parents[1]
RANKS = ROOT / "results" / "beyond" / "compare" / "compare.csv"
FIGURES = ROOT / "results"

#: Paragraphs of a learner's docstring that have a heading of their own, in this order.
HEADED = {"When to use": "When to use it", "Cost of an example": "Cost", "Cost of a step": "Cost", "Cost": "Cost"}

#: Parameters that bound what a learner stores.
BUDGETS = ("budget", "n_components")

Pages = dict[str, str]


@dataclass(frozen=True)
class Kind:
    """Pages of one kind, in a folder of its own, with a list of them.

    Attributes
    ----------
    items : what there is, by name, in one line each.
    page : the Markdown of an item's page.
    """

    title: str
    text: str
    items: Callable[[], Mapping[str, str]]
    page: Callable[[str], list[str]]

    def index(self) -> str:
        rows = [[f"[`{name}`]({name}.md)", what] for name, what in self.items().items()]
        return "\n".join(
            [f"# {self.title}", "", self.text, "", *table(["name", "what it is"], rows), "", *contents(self.items())]
        )


def pages() -> Pages:
    """The Markdown of each page by its name, without its ending: ``learners/alma``."""
    made: Pages = {"configurations": configurations(), "keys": keys(), "rule": rule(), "ranks": comparison()}
    for folder, kind in KINDS.items():
        made[f"{folder}/index"] = kind.index()
        made |= {f"{folder}/{name}": "\n".join([*kind.page(name), ""]) for name in kind.items()}
    return made


def contents(names: Mapping[str, Any]) -> list[str]:
    return ["```{toctree}", ":hidden:", "", *names, "```", ""]


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    """A table in Markdown; what it holds may have bars and lines of its own."""
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in [header, *rows]]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], f"|{'---|' * len(header)}", *lines[1:]]


def declared(known: Parameters, completed: Mapping[str, Any] | None = None) -> list[str]:
    """A table of parameters; `completed` are defaults that follow from others."""
    rows = []
    for name, one in known.items():
        default = (completed or {}).get(name, one.default)
        usual = "must be given" if default is ... else parameters.as_written(default)
        unit = f" ({one.unit})" if one.unit else ""
        rows.append([f"`{name}`", one.meaning, one.accepted + unit, usual])
    return table(["key", "meaning", "type and range", "default"], rows) if rows else ["None."]


def documented(owner: Any) -> str:
    """A docstring without its sections."""
    return re.split(r"\n(?:Parameters|Attributes|Raises|Returns)\n---", getdoc(owner) or "")[0].strip()


# -- what a configuration chooses among -------------------------------------------------------------------------------


def summaries(key: str) -> Callable[[], Mapping[str, str]]:
    choice = language.CHOICES[key]
    return lambda: {name: choice.summary(item) for name, item in choice.items.registered.items()}


def learner_page(name: str) -> list[str]:
    """Rule and source, use, cost, memory, picture, parameters and ranks of a learner."""
    learner = learners[name]
    parts = sections(documented(learner))
    called = " or ".join(f"`{one}`" for one in learners.names_of(name))
    text = [f"# {learner.title}", "", parts.pop(""), ""]
    text += [f"In a configuration it is {called}, in Python `budgetbench.learners.{learner.__name__}`.", ""]
    text += [
        f"![Its decisions on two interleaved half circles](../pictures/{name}.png){{.picture}}",
        "",
        "[What the pictures show](index.md#pictures).",
        "",
    ]
    for heading in dict.fromkeys(HEADED.values()):
        if heading in parts:
            text += [f"## {heading}", "", parts[heading], ""]
    text += ["## Memory", "", memory(learner), "", "## Parameters", ""]
    text += [*declared(learner.own_parameters(), learner.defaults()), ""]
    if name in ranks().index:
        text += ["## At equal memory", "", *ranked(name), ""]
    return [*text, f"Code: `{learner.__module__}`"]


def sections(text: str) -> dict[str, str]:
    """What a docstring says, and its paragraphs on cost and use, by their headings."""
    found: dict[str, list[str]] = {"": []}
    for paragraph in re.split(rf"\n+(?=(?:{'|'.join(HEADED)}): )|\n\n", text):
        start, _, rest = paragraph.partition(": ")
        heading = HEADED.get(start, "")
        found.setdefault(heading, []).append(rest[:1].upper() + rest[1:] if heading else paragraph)
    return {heading: "\n\n".join(paragraphs) for heading, paragraphs in found.items()}


def memory(learner: Any) -> str:
    """What bounds it."""
    kept = [name for name in BUDGETS if name in learner.own_parameters()]
    asked = " or ".join(f"`{name}`" for name in kept)
    if learner.batch:
        bound = f"bounded by {asked}" if kept else "bounded by the data alone"
        said = f"It learns from the training set as a whole, which it keeps; its model is {bound}."
    elif not kept:
        said = "Nothing bounds it: memory grows with the stream."
    elif any(learner.defaults()[name] is not None for name in kept):
        said = f"The model is bounded by {asked}."
    else:
        said = f"The model is bounded where {asked} asks for it."
    return f"{said} [What counts as memory](/method.md#memory)."


@cache
def ranks() -> pd.DataFrame:
    """Average rank of each learner (rows) at each size of model (columns) over the datasets of `make beyond`."""
    chosen = pd.read_csv(RANKS)
    order = list(dict.fromkeys(chosen["memory"]))
    return chosen.groupby(["algorithm", "memory"])["rank"].mean().unstack().reindex(columns=order)


RANKED = """\
Its average rank by test error over eight datasets, by the size of the model: 1 is the best, and – is where it has no
model so small. [All of them](/reference/ranks.md)."""


def ranked(name: str) -> list[str]:
    row = ranks().loc[name]
    cells = ["–" if pd.isna(rank) else f"{rank:.1f} of {ranks()[size].notna().sum()}" for size, rank in row.items()]
    return [RANKED, "", *table(list(row.index), [cells])]


def dataset_page(name: str) -> list[str]:
    choice = language.CHOICES["dataset"]
    one = choice.items[name]
    sizes = " + ".join(str(size) for size in (one.n_train, one.n_test) if size)
    facts = {"examples": sizes or "as the file has", "inputs": str(one.n_features or "as the file has")}
    facts["classes"] = ", ".join(map(str, one.classes)) if one.classes else "as the file has"
    facts |= {what: str(getattr(one, what)) for what in TOLD if getattr(one, what)}
    text = [f"# {one.title}", "", f"{sentence(one.summary)}", ""]
    text += [*table(["", ""], [list(fact) for fact in facts.items()]), "", "## Keys", ""]
    return [*text, *declared(without(choice, name)), "", f"Code: `{type(one).__module__}`"]


def kernel_page(name: str) -> list[str]:
    choice = language.CHOICES["kernel"]
    return [f"# {name}", "", documented(choice.items[name]), "", "## Keys", "", *declared(without(choice, name))]


def figure_page(name: str) -> list[str]:
    choice = language.CHOICES["plots"]
    kind = choice.items[name]
    text = [f"# {name}", "", f"{sentence(kind.summary)}", "", documented(kind.draw), ""]
    text += [f"![An example of it](../pictures/{name}.png){{.figure}}", ""] if example(name) else []
    return [*text, "## Keys", "", *declared(without(choice, name))]


def example(kind: str) -> Path | None:
    """A figure of this kind among the committed results."""
    return next(iter(sorted(FIGURES.glob(f"*/figures/{kind}.png"))), None)


def without(choice: language.Choice, name: str) -> Parameters:
    """Keys beside the one that chooses."""
    return {key: one for key, one in choice.parameters(name).items() if key != choice.chosen.name}


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


# -- commands ---------------------------------------------------------------------------------------------------------


@cache
def commands() -> Mapping[str, Any]:
    return typer.main.get_command(application()).commands  # type: ignore[attr-defined]


def command_page(name: str) -> list[str]:
    """What a command does, and its arguments and options."""
    command = commands()[name]
    context = typer.Context(command, info_name=f"budgetbench {name}")
    usage = " ".join(["budgetbench", name, *command.collect_usage_pieces(context)])
    text = [f"# {name}", "", documented(command.callback), "", "```console", f"$ {usage}", "```", ""]
    rows = [[f"`{one}`", what] for one, what in described(command, context)]
    return [*text, *table(["argument or option", "meaning"], rows)]


def described(command: Any, context: Any) -> Iterator[tuple[str, str]]:
    for one in command.get_params(context):
        record = one.get_help_record(context)
        if record:
            yield re.sub(r" <(list\[)?\w+\]?>", "", record[0]), record[1].replace("<", "&lt;")


# -- pages that list --------------------------------------------------------------------------------------------------


CONFIGURATIONS = """\
# Configurations

`budgetbench run NAME` runs one, `budgetbench list configs NAME` shows it, and `budgetbench new MINE --from NAME` makes
one of your own of it.
"""


def configurations() -> str:
    """The configurations that come with the program."""
    rows = []
    for name, path in shipped.shipped().items():
        data = document.read(path).data
        reproduces = ", ".join(map(str, (data.get("reproduces") or {}).values()))
        rows.append([f"`{name}`", str(data.get("title") or name), reproduces])
    return "\n".join([CONFIGURATIONS, *table(["name", "title", "reproduces"], rows), ""])


def keys() -> str:
    """The keys of a configuration."""
    text = [
        "# Keys of a configuration",
        "",
        "What a configuration can say. `budgetbench schema` gives the same to an editor.",
        "",
        *declared(language.KEYS),
        "",
    ]
    for key, known in language.FIXED.items():
        text += [f"## Under {key}", "", *declared(known), ""]
    return "\n".join(text)


def rule() -> str:
    """How it is decided what holds, for the page on the method."""
    return "\n".join([*(f"- {line}" for line in RULE.values()), ""])


def comparison() -> str:
    """All ranks."""
    titles = {name: learners[name].title if name in learners else name for name in ranks().index}
    best = ranks().sort_values(list(ranks().columns)[-1])
    rows = [
        [
            f"[{titles[name]}](learners/{name}.md)" if name in learners.registered else titles[name],
            *("–" if pd.isna(rank) else f"{rank:.1f}" for rank in row),
        ]
        for name, row in best.iterrows()
    ]
    return "\n".join(["# Ranks at equal memory", "", *table(["learner", *best.columns], rows), ""])


PICTURES = """\
Each learner has a page: its rule, when to use it, cost, memory, parameters and where it stands at equal memory.

## Pictures

They show the decisions of a learner on 300 examples of two interleaved half circles, of which one in twenty is labelled
wrong, with an RBF kernel of γ = 2. Squares are the points that are stored, the line is where f = 0, and the shade is f.
From the left to the right a learner has more room, or more passes where it takes no budget. Errors are those on 3000
examples drawn anew, with right labels. Bytes are those of the model.

## All learners
"""

KINDS = {
    "learners": Kind("Learners", PICTURES, summaries("algorithms"), learner_page),
    "datasets": Kind("Datasets", "What a configuration can name under `dataset`.", summaries("dataset"), dataset_page),
    "kernels": Kind("Kernels", "What a configuration can name under `kernel`.", summaries("kernel"), kernel_page),
    "figures": Kind("Figures", "What a configuration can ask for under `plots`.", summaries("plots"), figure_page),
    "commands": Kind(
        "Commands",
        "`budgetbench COMMAND --help` says the same.",
        lambda: {name: documented(command.callback).split("\n\n")[0] for name, command in commands().items()},
        command_page,
    ),
}
