"""Figures as SVG inside the page: its colours and its font, ids of their own, a description in words."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pandas as pd
from markupsafe import Markup

from budgetbench.lazy import lazy
from budgetbench.plots.style import styled
from budgetbench.report.palette import variable
from budgetbench.report.words import number

if TYPE_CHECKING:
    import matplotlib
    from matplotlib import colors
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from budgetbench.plots.base import Drawing
else:
    colors, matplotlib = lazy("matplotlib.colors"), lazy("matplotlib")

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
SETTINGS = {
    "svg.hashsalt": "budgetbench",  # the same ids, hence the same bytes, each time
    "svg.fonttype": "none",  # text stays text: small, sharp, found by a search, in the page's font
}
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
DECIMALS = re.compile(r"-?\d+\.\d+")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
GEOMETRY = ("d", "x", "y", "transform")
SERIES = "series:"
MANY = 12
"""More series than this are counted in the description, not listed: the table under the figure has them."""


def inline_svg(drawing: Drawing, prefix: str) -> tuple[Markup, set[str]]:
    """A figure as an `svg` element.

    Parameters
    ----------
    prefix : what the ids in it start with; another one for each figure of a page.

    Returns
    -------
    The element, and the colours in it, each written as the CSS variable that `palette.variable` names.
    """
    _name_learners(drawing)
    root = ElementTree.fromstring(_svg(drawing.figure))
    for parent in list(root.iter()):
        for child in list(parent):
            # The settings of all elements would reach the whole page; the page's style sheet has them.
            if child.tag == f"{SVG}style" or child.tag.endswith("metadata"):
                parent.remove(child)
    colours: set[str] = set()
    used = set(_references(root))
    for element in root.iter():
        _adapt(element, prefix, used, colours)
    width = float(root.get("viewBox", "0 0 300 300").split()[2])
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    wide = " wide" if width > 360 else ""
    root.attrib |= {"class": f"plot{wide}", "role": "img", "aria-label": describe(drawing), "focusable": "false"}
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        element.tail = None
        if element.tag != "text":
            element.text = None
    # HTML needs no name space on it, and has no short form of empty elements outside of svg
    return Markup(ElementTree.tostring(root, encoding="unicode")), colours


def describe(drawing: Drawing) -> str:
    """What a figure shows, in words, for those who do not see it."""
    panels = drawing.figure.axes
    x, y = (list(dict.fromkeys(filter(None, labels))) for labels in axis_labels(drawing))
    start = f"Chart of {_listed(y)} against {_listed(x)}." if x and y else "Chart."
    if len(panels) > 1:
        titles = [title for axes in panels if (title := axes.get_title(loc="left") or axes.get_title())]
        start += f" {len(panels)} panels{': ' if titles else ''}{'; '.join(titles)}."
    data = drawing.data
    if len(panels) != 1 or not {"series", "x", "y"} <= set(data.columns):
        return f"{start} The table below has the numbers."
    groups = [(str(name), rows) for name, rows in data.groupby("series", sort=False)]
    if len(groups) > MANY:
        return f"{start} {len(groups)} series; the table below has their numbers."
    return " ".join([start, *(_course(name, rows) for name, rows in groups)])


def axis_labels(drawing: Drawing) -> tuple[list[str], list[str]]:
    """The labels of the horizontal and of the vertical axes of a figure's panels, empty where a panel has none."""
    panels = drawing.figure.axes
    return [axes.get_xlabel() for axes in panels], [axes.get_ylabel() for axes in panels]


def _course(name: str, rows: pd.DataFrame) -> str:
    (x0, y0), (x1, y1) = ((rows["x"].iloc[i], rows["y"].iloc[i]) for i in (0, -1))
    if len(rows) == 1:
        return f"{name}: {number(y0)} at {number(x0)}."
    return f"{name}: from {number(y0)} at {number(x0)} to {number(y1)} at {number(x1)}."


def _listed(labels: list[str]) -> str:
    """Labels inside a sentence: without their capitals, unless they are abbreviations."""
    return ", ".join(label if label[1:2].isupper() else label[:1].lower() + label[1:] for label in labels)


def _svg(figure: Figure) -> str:
    stream = io.StringIO()
    with styled(), matplotlib.rc_context(SETTINGS):  # type: ignore[arg-type]
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    return stream.getvalue()


def _name_learners(drawing: Drawing) -> None:
    """Mark what belongs to a series and its learner, so that the page can set others back and leave them out."""
    data = drawing.data
    if "series" not in data:
        return
    learners = dict(zip(data["series"], data["algorithm"] if "algorithm" in data else [""] * len(data), strict=True))
    for label, artist in _labelled(drawing.figure):
        if label in learners:
            artist.set_gid(f"{SERIES}{learners[label]}:{label}")


def _labelled(figure: Figure) -> Iterator[tuple[str, Artist]]:
    """Everything that is drawn for a series, with the series' label."""
    for axes in figure.axes:
        for container in axes.containers:
            for artist in container.get_children():
                yield str(container.get_label()), artist
        for artist in axes.get_children():
            yield str(artist.get_label()), artist
        colours = {line.get_color(): str(line.get_label()) for line in axes.get_lines()}
        for collection in axes.collections:  # a band has no label, but the colour of its line
            faces = colors.to_rgba_array(collection.get_facecolor())
            for colour, label in colours.items():
                if len(faces) and tuple(faces[0][:3]) == colors.to_rgb(colour):
                    yield label, collection
    for legend in figure.legends:
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            yield text.get_text(), text
            if handle is not None:
                yield text.get_text(), handle


def _references(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        if LINK in element.attrib:
            yield element.attrib[LINK].removeprefix("#")
        for value in element.attrib.values():
            yield from REFERENCE.findall(value)


def _adapt(element: ElementTree.Element, prefix: str, used: set[str], colours: set[str]) -> None:
    """Ids only where something refers to them; colours as variables; no more decimals than can be seen."""
    own = element.attrib.pop("id", "")
    if own.startswith(SERIES):
        learner, series = own.removeprefix(SERIES).split(":", 1)
        element.attrib |= {"data-series": series} | ({"data-learner": learner} if learner else {})
    elif own in used:
        element.set("id", f"{prefix}-{own}")
    if LINK in element.attrib:
        element.set("href", f"#{prefix}-{element.attrib.pop(LINK).removeprefix('#')}")
    for name, value in element.attrib.items():
        if name in GEOMETRY:
            value = DECIMALS.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), value)
            value = " ".join(value.split())
        if "url(#" in value:
            value = REFERENCE.sub(rf"url(#{prefix}-\1)", value)
        if name == "style":
            colours.update(colour.lower() for colour in COLOUR.findall(value))
            value = COLOUR.sub(lambda found: f"var({variable(found[0].lower())})", value)
            value = re.sub(r"font-family: [^;]+;? ?", "", value)
        element.set(name, value)
