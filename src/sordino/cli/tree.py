"""`sordino tree`: release a decision tree learned from a file or a database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from sordino.cli.output import print_json
from sordino.cli.picture import check_picture, save_picture
from sordino.mechanisms.names import CriterionName, MechanismName, list_names


def tree(
    data: Annotated[str, typer.Argument(help="A CSV or Parquet file, a folder of them, or a database URL.")],
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    schema: Annotated[
        Path,
        typer.Option(
            "--schema",
            "-s",
            help='JSON file of public domains: {"sex": ["F", "M"], "age": {"bounds": [0, 100], "bins": 10}}.',
        ),
    ],
    classes: Annotated[str, typer.Option(help="The public class labels, separated by commas.")],
    max_rows: Annotated[int, typer.Option(help="A public bound on the number of rows.")],
    epsilon: Annotated[
        float, typer.Option("--epsilon", "-e", help="The privacy loss to spend; must be > 0.")
    ],
    table: Annotated[
        str | None, typer.Option(help="The table, where the data has several; by default the file's name.")
    ] = None,
    max_depth: Annotated[int, typer.Option("--depth", "-d", help="Splits on a path, at most.")] = 5,
    criterion: Annotated[
        str | None, typer.Option(help=f"{list_names(CriterionName)}; auto chooses by public numbers.")
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(help=f"The mechanism that chooses attributes: {list_names(MechanismName)}."),
    ] = None,
    show: Annotated[int, typer.Option(help="How many levels to print.")] = 3,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw the tree into this .png, .svg or .pdf file.")
    ] = None,
    memory_limit: Annotated[
        str | None, typer.Option(help="Of the database engine in this process, such as 2GB.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Release a decision tree: its splits, its noisy counts, and the guarantee.

    [bold]Examples[/bold]

    \b
      sordino tree census.parquet --target income --schema census.json \\
          --classes "<=50K,>50K" --max-rows 50000 --epsilon 1
      sordino tree postgresql://host/db --table people --target smoker \\
          --schema people.json --classes yes,no --max-rows 1000000 \\
          --epsilon 0.5 --depth 3 --plot tree.png

    One row is protected. Domains, classes and the bound on the rows are
    public: they come from you and are never read from the data. Counting
    happens inside the engine, so the data may be larger than memory.
    """
    from sordino.engines import connect
    from sordino.learn import DecisionTreeClassifier, as_schema

    if plot is not None:
        check_picture(plot)
    domains = as_schema(schema)
    labels = [_read_label(label) for label in classes.split(",")]
    chosen: dict[str, Any] = {
        name: value
        for name, value in (("criterion", criterion), ("selection", selection))
        if value is not None
    }
    classifier = DecisionTreeClassifier(
        epsilon, schema=domains, classes=labels, max_rows=max_rows, max_depth=max_depth, **chosen
    )
    name = table or Path(data).stem
    types = None
    if data.lower().endswith((".csv", ".tsv")):
        types = {name: _declared_types(domains, target, labels)}
    with connect(data, types=types, memory_limit=memory_limit) as engine:
        classifier.fit_table(engine, name, target=target)
    if plot is not None:
        save_picture(classifier.plot(), plot, dpi=130)
    if as_json:
        print_json({"tree": classifier.tree_.to_dict(), "guarantee": classifier.guarantee_.to_dict()})
        return
    print(classifier.export_text(max_depth=show))
    print(f"{classifier.tree_}: {classifier.guarantee_}")


def _read_label(text: str) -> Any:
    """A label as it would stand in JSON: 0 and true are what they look like, everything else is text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text.strip()
    return value if isinstance(value, bool | int | float) else text.strip()


def _declared_types(schema: Any, target: str, labels: list[Any]) -> dict[str, str]:
    """The types of a CSV file's columns, from the public domains alone."""
    types = {}
    for attribute in schema.attributes:
        listed = getattr(attribute, "values", None)
        types[attribute.name] = "float" if listed is None else _type_of(list(listed))
    return types | {target: _type_of(labels)}


def _type_of(values: list[Any]) -> str:
    if all(isinstance(value, bool) for value in values):
        return "boolean"
    if all(isinstance(value, int) for value in values):
        return "integer"
    return "float" if all(isinstance(value, int | float) for value in values) else "text"
