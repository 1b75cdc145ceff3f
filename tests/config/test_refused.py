"""Everything that a configuration can get wrong, with the message that says so."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from budgetbench.config import load
from budgetbench.errors import ConfigError, Problems, RequestError
from budgetbench.plots import figures

Refused = Callable[..., str]

HEAD = "name: example\ndataset: {name: images, positive: 0}\nkernel: {name: rbf, gamma: 0.5}\n"
PLAIN = "algorithms: [{name: plain}]\n"
ENTRY = "c.yaml:4: algorithms[0]"  # where the only algorithm of HEAD + "algorithms: [...]" stands


def with_kernel(kernel: str) -> str:
    return f"name: example\ndataset: {{name: images, positive: 0}}\nkernel: {kernel}\n{PLAIN}"


def with_dataset(dataset: str, algorithms: str = PLAIN) -> str:
    return f"name: example\ndataset: {dataset}\nkernel: {{name: rbf, gamma: 0.5}}\n{algorithms}"


TOP_KEYS = (
    "name, title, reproduces, dataset, label_noise, kernel, order, permutations, epochs, seed, checkpoints, "
    "algorithms, plots, table"
)
DATASET_KEYS = (
    "name, positive, multiclass, scale, scale_on, variant, train_size, test_size, validation_size, limit, redraw, "
    "stream, classes, scale_by, shuffle_buffer"
)
FOLDER = "a folder name: up to 100 letters, digits, '.', '_' and '-', starting with a letter or a digit"
WIDTHS = "exactly one of gamma, sigma, variance"
COUNT = "an integer of at least 1 and at most 2147483647"
REPEATS = "an integer of at least 1 and at most 1000000"
POSITIVE = "a number of at least 1e-30 and at most 1e+30"
GAMMA = f"{POSITIVE}, median or scale"
WIDTH = "a number of at least 1e-14 and at most 1e+14"
WHOLE = "an integer of at least 1"  # of the learners made for these tests


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("titel: x", f"titel: found 'titel'; accepted: {TOP_KEYS}. Did you mean 'title'?"),
        ("title: [x]", "title: found ['x']; accepted: a text"),
        ("reproduces: {paper: weston2005}", "reproduces.item: found nothing; accepted: a text such as Figure 10"),
        ("label_noise: {rate: 1.5}", "label_noise.rate: found 1.5; accepted: a number from 0 to 1"),
        ("label_noise: {rate: .nan}", "label_noise.rate: found nan; accepted: a number from 0 to 1"),
        ("label_noise: 0.1", "label_noise: found 0.1; accepted: a mapping with the keys rate, mode, on"),
        ("label_noise: {rate: 0.1, on: tests}", "label_noise.on: found 'tests'; accepted: train, all"),
        ("order: suffled", "order: found 'suffled'; accepted: shuffled, given. Did you mean 'shuffled'?"),
        ("permutations: 0", f"permutations: found 0; accepted: {COUNT}"),
        ('permutations: "5"', f"permutations: found '5'; accepted: {COUNT}"),
        ("permutations: true", f"permutations: found True; accepted: {COUNT}"),
        ("permutations: 1.0", f"permutations: found 1.0; accepted: {COUNT}"),
        ("epochs: null", f"epochs: found None; accepted: {REPEATS}"),
        ("seed: -1", f"seed: found -1; accepted: an integer of at least 0 and at most {2**53}"),
        ("plots: [error_vs_support]", "plots[0]: found 'error_vs_support'; accepted: a mapping with a kind"),
        (
            "plots: [{kind: error_vs_support, error_bars: all}]",
            "plots[0].error_bars: found 'all'; accepted: minmax, std, stderr, none",
        ),
        (
            "plots: [{kind: error_vs_support, name: ../up}]",
            f"plots[0].name: found '../up'; accepted: {FOLDER.replace('folder', 'file')}",
        ),
        ("table: accuracy", "table: found 'accuracy'; accepted: a mapping with the keys layout"),
        ("plots: error_vs_support", "plots: found 'error_vs_support'; accepted: a list of mappings, each with a kind"),
        (
            "plots: [{kind: eror_vs_support}]",
            f"plots[0].kind: found 'eror_vs_support'; accepted: {', '.join(figures)}. Did you mean 'error_vs_support'?",
        ),
        (
            "table: {layout: mistake}",
            "table.layout: found 'mistake'; accepted: accuracy, mistakes, cache. Did you mean 'mistakes'?",
        ),
    ],
)
def test_top_level(refused: Refused, line: str, message: str) -> None:
    assert refused(HEAD + PLAIN + line) == f"c.yaml:5: {message}"


@pytest.mark.parametrize("name", ["a b", "../up", "a/b", ".hidden", "-flag", "end.", '""', "x" * 101, "7"])
def test_names_that_are_no_safe_folder_names(refused: Refused, name: str) -> None:
    found = {'""': "''", "7": "7"}.get(name, repr(name))
    assert refused(HEAD.replace("example", name) + PLAIN) == f"c.yaml:1: name: found {found}; accepted: {FOLDER}"


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ("{name: imags}", "name: found 'imags'; accepted: images, pooled, drawn, own. Did you mean 'images'?"),
        ("{positive: 0}", "name: found nothing; accepted: the name of a dataset"),
        (
            "{name: images, postive: 0}",
            f"postive: found 'postive'; accepted: {DATASET_KEYS}. Did you mean 'positive'?",
        ),
        ("{name: images, positive: 3}", "positive: found 3; accepted: a class of images: 0, 1, 2"),
        ("{name: images, positive: [0, 3]}", "positive[1]: found 3; accepted: a class of images: 0, 1, 2"),
        ("{name: images, positive: '0'}", "positive: found '0'; accepted: a class of images: 0, 1, 2"),
        (
            "{name: images, positive: [0, 1, 2]}",
            "positive: found [0, 1, 2]; accepted: some and not all of the classes 0, 1, 2",
        ),
        (
            "{name: images, positive: [0, 0]}",
            "positive: found [0, 0]; accepted: a class (an integer or a text) or a list of different classes",
        ),
        (
            "{name: images, positive: 0, scale: [unit, minmx]}",
            "scale[1]: found 'minmx'; accepted: none, standard, minmax, range, unit, or a list of different ones "
            "without none. Did you mean 'minmax'?",
        ),
        (
            "{name: images, positive: 0, scale: [none, unit]}",
            "scale: found ['none', 'unit']; accepted: none, standard, minmax, range, unit, or a list of different ones"
            " without none",
        ),
        (
            "{name: images, positive: 0, variant: smoth}",
            "variant: found 'smoth'; accepted: one of smooth, rough. Did you mean 'smooth'?",
        ),
        ("{name: pooled, variant: smooth}", "variant: found 'smooth'; accepted: no variant for pooled"),
        (
            "{name: pooled, train_size: 10}",
            "test_size: found nothing; accepted: an integer of at least 1, because train_size is given",
        ),
        (
            "{name: pooled, test_size: 10}",
            "train_size: found nothing; accepted: an integer of at least 1, because test_size is given",
        ),
        (
            "{name: pooled, train_size: 41, test_size: 10}",
            "train_size: found 41; accepted: at most 50 together with test_size, which is all that pooled has",
        ),
        ("{name: pooled, limit: 0}", f"limit: found 0; accepted: {COUNT}"),
        (
            "{name: pooled, redraw: true}",
            "redraw: found True; accepted: false, or one of the generated datasets: drawn",
        ),
        ("{name: drawn, redraw: 1}", "redraw: found 1; accepted: true or false"),
        ("{name: drawn, n: many}", "n: found 'many'; accepted: an integer"),
        ("{name: own}", "path: found nothing; accepted: the path of a file"),
        (
            "{name: own, path: a, tst_path: b}",
            f"tst_path: found 'tst_path'; accepted: {DATASET_KEYS}, path, test_path. Did you mean 'test_path'?",
        ),
        (
            "{name: images, positive: 0, path: a}",
            f"path: found 'path'; accepted: {DATASET_KEYS}",
        ),
    ],
)
def test_dataset(refused: Refused, dataset: str, message: str) -> None:
    assert refused(with_dataset(dataset)) == f"c.yaml:2: dataset.{message}"


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("{name: rfb, gamma: 1}", ".name: found 'rfb'; accepted: linear, polynomial, rbf. Did you mean 'rbf'?"),
        ("{gamma: 1}", ".name: found nothing; accepted: linear, polynomial, rbf"),
        ("rbf", ": found 'rbf'; accepted: a mapping such as {name: rbf, gamma: 0.5}"),
        ("{name: rbf}", f".gamma: found nothing; accepted: {WIDTHS}"),
        ("{name: rbf, sigma: 2, gamma: 1}", f".sigma: found 2; accepted: {WIDTHS}"),
        ("{name: rbf, gamma: 0}", ".gamma: found 0; accepted: " + GAMMA),
        ("{name: rbf, sigma: -1.0}", ".sigma: found -1.0; accepted: " + WIDTH),
        (f"{{name: rbf, gamma: 1{'0' * 400}}}", f".gamma: found 1{'0' * 119}… (401 characters); accepted: {GAMMA}"),
        ("{name: rbf, gamma: [1, -1]}", ".gamma[1]: found -1; accepted: " + GAMMA),
        ("{name: rbf, gamma: [1, 2], sigma: 3}", f".sigma: found 3; accepted: {WIDTHS}"),
        (
            "{name: rbf, gamma: 1, select: error}",
            ".select: found 'error'; accepted: test_error, validation_error. Did you mean 'test_error'?",
        ),
        ("{name: rbf, gamma: .inf}", ".gamma: found inf; accepted: " + GAMMA),
        ('{name: rbf, gamma: "1"}', ".gamma: found '1'; accepted: " + GAMMA),
        ("{name: rbf, gamma: true}", ".gamma: found True; accepted: " + GAMMA),
        (
            "{name: rbf, gama: 1}",
            ".gama: found 'gama'; accepted: name, select, gamma, sigma, variance. Did you mean 'gamma'?",
        ),
        ("{name: polynomial, degree: 0}", f".degree: found 0; accepted: {WHOLE} and at most 100"),
        ("{name: polynomial, degree: 2.5}", f".degree: found 2.5; accepted: {WHOLE} and at most 100"),
        ("{name: linear, gamma: 1}", ".gamma: found 'gamma'; accepted: name, select"),
    ],
)
def test_kernel(refused: Refused, kernel: str, message: str) -> None:
    assert f"c.yaml:3: kernel{message}" in refused(with_kernel(kernel)).splitlines()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{name: plan}", ".name: found 'plan'; accepted: plain, small, many. Did you mean 'plain'?"),
        ("{epochs: 1}", ".name: found nothing; accepted: plain, small, many"),
        ("plain", ": found 'plain'; accepted: a mapping with a name"),
        ("{name: small}", f".budget: found nothing; accepted: {WHOLE}"),
        ("{name: small, budget: 0}", f".budget: found 0; accepted: {WHOLE}"),
        ("{name: small, budget: [5, 0]}", f".budget[1]: found 0; accepted: {WHOLE}"),
        ('{name: small, budget: "5"}', f".budget: found '5'; accepted: {WHOLE}"),
        ("{name: small, budget: true}", f".budget: found True; accepted: {WHOLE}"),
        ("{name: small, budget: 5.0}", f".budget: found 5.0; accepted: {WHOLE}"),
        ("{name: small, budget: [[5]]}", f".budget[0]: found [5]; accepted: {WHOLE}"),
        ("{name: small, budget: []}", ".budget: found []; accepted: a value, or a list of at least one"),
        ("{name: small, budget: [5, 6, 5]}", ".budget[2]: found 5; accepted: each value once"),
        (
            "{name: small, budgt: 5}",
            ".budgt: found 'budgt'; accepted: name, select, epochs, budget, mode, beta, queue. Did you mean 'budget'?",
        ),
        (
            "{name: small, budget: 5, mode: fastest}",
            ".mode: found 'fastest'; accepted: slow, fast. Did you mean 'fast'?",
        ),
        ("{name: small, budget: 5, queue: 3}", ".queue: found 3; accepted: null, unless mode is fast"),
        ("{name: many, C: [1, -1]}", ".C[1]: found -1; accepted: a number above 0"),
        ("{name: many, C: .inf}", ".C: found inf; accepted: a number above 0"),
        (
            "{name: many, select: tst_error}",
            ".select: found 'tst_error'; accepted: test_error, validation_error. Did you mean 'test_error'?",
        ),
        (
            "{name: many, gamma: 1}",
            ".gamma: found 'gamma'; accepted: name, select, C."
            " The kernel is the same for all algorithms: set it under kernel.",
        ),
    ],
)
def test_algorithm(refused: Refused, entry: str, message: str) -> None:
    assert refused(f"{HEAD}algorithms: [{entry}]") == f"{ENTRY}{message}"


@pytest.mark.parametrize("value", ["[]", "{}", "plain", "null", "{name: plain}"])
def test_no_list_of_algorithms(refused: Refused, value: str) -> None:
    accepted = "a list of mappings, each with a name: at least one"
    assert refused(f"{HEAD}algorithms: {value}").endswith(f"; accepted: {accepted}")


def test_the_line_is_that_of_the_list_element(refused: Refused) -> None:
    text = f"{HEAD}algorithms:\n  - name: small\n    budget:\n      - 5\n      - -5\n"
    assert refused(text) == f"c.yaml:8: algorithms[0].budget[1]: found -5; accepted: {WHOLE}"


def test_parameters_of_two_entries_that_are_the_same(refused: Refused) -> None:
    text = f"{HEAD}algorithms:\n  - {{name: small, budget: [5, 6]}}\n  - {{name: sm, mode: slow, budget: [6, 7]}}\n"
    found = "small with epochs=1, budget=6, mode='slow', beta=0.0, queue=None once more"
    assert refused(text) == (
        f"c.yaml:6: algorithms[1]: found {found}; accepted: each algorithm with the same parameters once."
        " It is in algorithms[0], line 5 already."
    )


def test_values_that_are_the_same_number(refused: Refused) -> None:
    said = refused(f"{HEAD}algorithms: [{{name: many, C: [1, 1.0]}}]")
    assert said.startswith(f"{ENTRY}: found many with C=1.0 once more; accepted: each algorithm with the same")


def test_more_classes_than_a_learner_separates(refused: Refused) -> None:
    assert refused(with_dataset("{name: images}", "algorithms: [{name: many}, {name: plain}]")) == (
        "c.yaml:4: algorithms[1].name: found 'plain'; accepted: for more than two classes: many."
        " images has 3 classes: name one or some of them as dataset.positive, or let a learner learn each of them with"
        " dataset.multiclass: one_vs_rest."
    )


def test_two_ways_to_make_two_classes_of_more(refused: Refused) -> None:
    dataset = "{name: images, positive: 1, multiclass: one_vs_rest}"
    assert refused(with_dataset(dataset, "algorithms: [{name: plain}]")).endswith(
        "dataset.multiclass: found 'one_vs_rest'; accepted: nothing where positive makes two classes of all"
    )


def test_selections_of_kernel_and_parameters_that_differ(refused: Refused) -> None:
    kernel = "{name: rbf, gamma: [1, 2], select: validation_error}"
    text = with_kernel(kernel).replace("{name: plain}", "{name: many, C: [1, 2], select: test_error}")
    accepted = "validation_error, as in kernel.select: kernel and parameters are chosen together"
    assert refused(text) == f"c.yaml:4: algorithms[0].select: found 'test_error'; accepted: {accepted}"


@pytest.mark.parametrize("size", ["0", "1.0", "0.0", "-3", "half"])
def test_validation_size(refused: Refused, size: str) -> None:
    said = refused(with_dataset(f"{{name: images, positive: 0, validation_size: {size}}}"))
    assert said.endswith("; accepted: an integer of at least 1, or a share above 0 and below 1")


def test_selection_without_a_test_set(refused: Refused) -> None:
    said = refused(with_dataset("{name: pooled}", "algorithms: [{name: many, C: [1, 2], select: test_error}]"))
    assert said.startswith("c.yaml:4: algorithms[0].select: found 'test_error'; accepted: no selection without a test")


def test_all_problems_are_told_at_once(refused: Refused) -> None:
    text = """\
nam: x
dataset: {name: imags, limt: 3}
kernel: {name: rbf}
algorithms: [{name: small, budget: [0, x]}]
seed: -1
"""
    lines = refused(text).splitlines()
    places = [line.split(": found")[0] for line in lines]
    assert sorted(places) == [
        "c.yaml:1: nam",
        "c.yaml:2: dataset.limt",
        "c.yaml:2: dataset.name",
        "c.yaml:3: kernel.gamma",
        "c.yaml:4: algorithms[0].budget[0]",
        "c.yaml:4: algorithms[0].budget[1]",
        "c.yaml:5: seed",
    ]
    assert [place.split(":")[1] for place in places] == sorted(place.split(":")[1] for place in places)


def test_all_that_is_wrong_with_each_part_is_told(refused: Refused) -> None:
    text = """\
name: example
dataset: {name: drawn, n: x, limit: 0, scal: unit}
kernel: {name: polynomial, degree: 0, gamma: -1, sigma: 1}
algorithms: [{name: small, budget: x, mode: [slow, quick], beta: y, select: z, gamma: 1}]
plots: [{kind: error_vs_support, size: x, measure: y, title: [], titel: z}]
label_noise: {rate: 2, on: x}
"""
    places = [line.split(": found")[0].removeprefix("c.yaml:") for line in refused(text).splitlines()]
    assert sorted(places) == [
        *(f"2: dataset.{name}" for name in ("limit", "n", "scal")),
        *(f"3: kernel.{name}" for name in ("degree", "gamma", "sigma")),
        *(f"4: algorithms[0].{name}" for name in ("beta", "budget", "gamma", "mode[1]", "select")),
        *(f"5: plots[0].{name}" for name in ("measure", "size", "titel", "title")),
        *(f"6: label_noise.{name}" for name in ("on", "rate")),
    ]


def test_several_problems_are_one_error(write: Callable[[str], Path]) -> None:
    with pytest.raises(Problems) as caught:
        load(write(HEAD + PLAIN + "seed: -1\nepochs: 0"))
    assert isinstance(caught.value, ConfigError)
    assert [(problem.key, problem.line) for problem in caught.value.problems] == [(("seed",), 5), (("epochs",), 6)]
    assert (caught.value.key, caught.value.found, caught.value.line) == (("seed",), -1, 5)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_missing_file(write: Callable[[str], Path]) -> None:
    write("name: x")
    with pytest.raises(RequestError) as caught:
        load("d.yaml")
    assert str(caught.value) == "d.yaml: no such file; accepted: the path of a configuration. Did you mean 'c.yaml'?"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot be read"):
        load(tmp_path)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_bytes(b"name: \xff")
    with pytest.raises(RequestError, match="not a text in UTF-8"):
        load(tmp_path / "c.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "c.yaml:1: found nothing; accepted: a mapping that starts with name, dataset, kernel, algorithms"),
        ("# only this\n", "c.yaml:1: found nothing; accepted: a mapping that starts with"),
        ("- name: x", "c.yaml:1: found a list; accepted: a mapping that starts with"),
        ("usps", "c.yaml:1: found a single value; accepted: a mapping"),
        ("a: 1\nb: [1, 2\nc: 3", "c.yaml:3: found 'c: 3'; accepted: valid YAML. The YAML reader says: while parsing"),
        ("a: 1\n b: 2", "c.yaml:2: found 'b: 2'; accepted: valid YAML. The YAML reader says: mapping values are not"),
        ("a: 1\n---\nb: 1", "c.yaml:2: found '---'; accepted: valid YAML"),
        ("a: \x07", "c.yaml:1: found a forbidden character; accepted: valid YAML"),
        ("a: 1\nb: 2\na: 3", "c.yaml:3: a: found the key once more; accepted: each key once. It is in line 1 already."),
        ("a: {b: 1,\n  b: 1}", "c.yaml:2: a.b: found the key once more; accepted: each key once. It is in line 1 alr"),
        ("a: 1\n2: b", "c.yaml:2: found the key '2'; accepted: a text as a key"),
        (
            "a: " + "[" * 5000,
            "c.yaml:1: found lists or mappings more than 50 deep; accepted: a configuration at most 50 deep",
        ),
        ("a: &a [*a]", "c.yaml:1: a[0]: found an alias of itself; accepted: a value"),
        ("a: !!python/name:os.system x", "c.yaml:1: a: found tag:yaml.org,2002:python/name:os.system 'x'; accepted:"),
        ("a: !!int x", "c.yaml:1: a: found tag:yaml.org,2002:int 'x'; accepted: a text, a number, true, false or null"),
        ("a: !!set {x}", "c.yaml:1: a: found the tag tag:yaml.org,2002:set; accepted: a list or a map"),
    ],
)
def test_text_that_is_no_configuration(refused: Refused, text: str, message: str) -> None:
    assert refused(text).startswith(message)
