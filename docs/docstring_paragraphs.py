"""Docstrings on the site: Guarantee, Requires, Source and Numerics each begin a paragraph, and examples are code.

In the code they follow one another line by line, and an example begins with ``>>>``; Markdown would run the first
together and take the second for a quotation.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_LABEL = re.compile(r"\n(?:\*\*(\w[\w ]*)\*\*|(Guarantee|Requires|Source|Numerics))(?=[ :(])")
_EXAMPLE = re.compile(r"^(?:>>> .*\n?(?:(?!>>>).+\n?)*)+", flags=re.MULTILINE)


class DocstringParagraphs(griffe.Extension):
    """Put an empty line before every label, and a fence around every example."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every object once it and what is in it were read."""
        if obj.docstring is not None:
            text = _LABEL.sub(r"\n\n**\1\2**", obj.docstring.value)
            obj.docstring.value = _EXAMPLE.sub(
                lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text + "\n"
            )
