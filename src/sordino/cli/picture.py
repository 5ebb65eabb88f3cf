"""Pictures that commands draw into a file: the name is checked first, so that nothing is spent for one that fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sordino.core import ParameterError

_KINDS = (".png", ".svg", ".pdf")


def check_picture(name: str | Path) -> None:
    """Refuse a file that no picture can be written to, before any data is read."""
    path = Path(name)
    if path.suffix.lower() not in _KINDS:
        raise ParameterError(f"a picture is written to FILE.png, FILE.svg or FILE.pdf, got {str(name)!r}")
    if path.is_dir():
        raise ParameterError(f"{name} cannot be written: is a directory")
    if not path.parent.is_dir():
        raise ParameterError(f"{name} cannot be written: no such file or directory")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(f"{name} cannot be written: permission denied")


def save_picture(figure: Any, name: str | Path, *, dpi: int) -> None:
    """Write a figure of matplotlib; a full disk is the caller's trouble and no defect."""
    try:
        figure.savefig(name, dpi=dpi)
    except OSError as error:
        raise ParameterError(f"{name} cannot be written: {(error.strerror or 'error').lower()}") from None
