"""Theorem docstrings on the site: Guarantee, Requires, Source and Numerics each begin a paragraph.

In the code they follow one another line by line, which Markdown would run together.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_LABEL = re.compile(r"\n(?:\*\*(\w[\w ]*)\*\*|(Guarantee|Requires|Source|Numerics))(?=[ :(])")


class DocstringParagraphs(griffe.Extension):
    """Put an empty line before every label."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every object once it and what is in it were read."""
        if obj.docstring is not None:
            obj.docstring.value = _LABEL.sub(r"\n\n**\1\2**", obj.docstring.value)
