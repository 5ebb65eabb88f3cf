"""The README and its companions in the repository's root are pages of the site too.

MkDocs reads one folder; these files stand above it, where people look for them first. Their links start at the root,
so ``docs/limits.md`` becomes ``limits.md`` here, and ``SECURITY.md`` the page made of that file. Links of other pages
to them lead out of the folder, and are turned to those pages. Links to code are for readers of the repository: the site
has no code, and keeps their text.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
_LINK = re.compile(r"(?<=\]\()(docs/)?([\w./-]+)(?=[)#])")
_OUT = re.compile(rf"(?<=\]\()\.\./((?:\.\./)*)({'|'.join(map(re.escape, ROOT_PAGES))})(?=[)#])")

_CODE = re.compile(r"\[(`[^`\]]+`)\]\((?:\.\./)+(?:src|tests|benchmarks)/[^)]*\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the root's pages with links that hold inside the site."""
    root = Path(config.config_file_path).parent
    for name, page in ROOT_PAGES.items():
        text = _LINK.sub(lambda link: ROOT_PAGES.get(link[2], link[2]), (root / name).read_text("utf-8"))
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to the root's files into links to their pages, and links to code into its names."""
    markdown = _CODE.sub(lambda link: link[1], markdown)
    return _OUT.sub(lambda link: link[1] + ROOT_PAGES[link[2]], markdown)
