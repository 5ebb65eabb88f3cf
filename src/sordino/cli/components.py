"""`sordino components`: constants, flags and complements of a finite space, or bounds under linear equations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from sordino.cli.output import print_json
from sordino.core import ParameterError

_FIELDS = (
    "{distances, names, values} for finitely many points, or {equations, norm, sensitivities} for vectors"
)


def components(
    space: Annotated[str, typer.Argument(help="A space, as JSON.", metavar="SPACE.json")],
    rho: Annotated[
        str | None,
        typer.Option(help="A component: classes of points, 'a,b|c,d'; or coordinates that are fixed, '0,2'."),
    ] = None,
    sigma: Annotated[str | None, typer.Option(help="A second one, to combine with the first.")] = None,
    kind: Annotated[str, typer.Option(help="Of the constants: A, B, C or D.")] = "A",
    set_distance: Annotated[str, typer.Option(help="Of classes: hausdorff or max.")] = "hausdorff",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Tell how sensitive a function is with respect to a component of its inputs.

    SPACE.json has distances of points, their names and the function's values; or
    equations, a norm (1, 2 or "inf") and sensitivities to each coordinate.

    [bold]Examples[/bold]

    \b
      sordino components space.json --rho "a,b|c,d"
      sordino components space.json --rho "a,b|c,d" --sigma "a,c|b,d"
      sordino components shares.json --rho 0
    """
    content = _read(Path(space))
    if rho is None:
        raise ParameterError("give --rho: classes of points 'a,b|c,d', or fixed coordinates '0,2'")
    if "distances" in content:
        told = _finite(content, rho, sigma, kind, set_distance)
    elif "equations" in content:
        told = _linear(content, rho)
    else:
        raise ParameterError(f"{space} must have {_FIELDS}")
    if as_json:
        print_json(told)
        return
    for name, value in told.items():
        print(f"{name}: {_text(value)}")


def _finite(content: dict[str, Any], rho: str, sigma: str | None, kind: Any, distance: Any) -> dict[str, Any]:
    from sordino.workflow import FiniteSpace

    space = FiniteSpace(content["distances"], names=content.get("names"))

    def shown(classes: Any) -> list[list[str]] | None:
        return None if classes is None else [[space.names[place] for place in sorted(one)] for one in classes]

    first = space.component(_classes(rho))
    told: dict[str, Any] = {
        "classes": shown(first),
        "equidistant": space.equidistant(first),
        "complement": shown(space.complement(first)),
    }
    if "values" in content:
        found = space.constants(content["values"], first, kind, distance)
        told[f"constant {kind}"] = found.value
        told["by class"] = list(found.by_class)
    if sigma is not None:
        second = space.component(_classes(sigma))
        told["adjacent"] = space.adjacent(first, second)
        told["expanding"] = space.expanding(first, second)
        if "values" in content:
            told["together"] = space.combine(content["values"], first, second, kind, distance).to_dict()
    return told


def _linear(content: dict[str, Any], rho: str) -> dict[str, Any]:
    from sordino.workflow import LinearSpace

    space = LinearSpace(content["equations"], norm=float(content.get("norm", 1)))
    try:
        fixed = [int(place) for place in rho.split(",")]
    except ValueError:
        raise ParameterError(f"fixed coordinates are whole numbers, '0,2', got {rho!r}") from None
    pivots = space.pivots()
    told: dict[str, Any] = {
        "class distance": space.class_distance(dict.fromkeys(fixed, 1)),
        "pivots": "no pivots" if pivots is None else list(pivots),
    }
    if "sensitivities" in content:
        told["sensitivity"] = space.sensitivity(content["sensitivities"], fixed).to_dict()
        told["dual"] = space.dual_sensitivity(content["sensitivities"], fixed).to_dict()
    return told


def _classes(text: str) -> list[list[str]]:
    return [[name.strip() for name in part.split(",") if name.strip()] for part in text.split("|")]


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is not UTF-8 text").lower()
        raise ParameterError(f"{path} cannot be read: {reason}") from None
    except ValueError as error:
        raise ParameterError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ParameterError(f"{path} must have {_FIELDS}")
    return content


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['value']:.6g} ({value['rule']})"
    if isinstance(value, list):
        if value and isinstance(value[0], list):
            return " | ".join(", ".join(part) for part in value)
        return ", ".join(f"{one:.6g}" if isinstance(one, float) else str(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
