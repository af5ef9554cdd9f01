"""Brings files outside docs/ that its pages link to into the site: examples, interfaces, settings.

In a clone such a link leads to the file itself. In the site it leads to a page made from that
file: a Markdown file as it is, any other as a listing. MkDocs calls the functions here by name.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_FOLDER = "files"
"""Folder of the site below which the files have their paths in the clone."""

_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
"""A link's target inside the clone, and the anchor in it."""

_LOOKED_UP = {"reference/api": 0.5, _FOLDER: 0.3}
"""Pages for looking things up, which the search puts behind those for reading."""

_LANGUAGES = {".py": "python", ".yaml": "yaml", ".xml": "xml", ".xacro": "xml"}

_log = logging.getLogger("mkdocs.hooks.outside_pages")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every file outside docs/ that a page links to, and for what these link to."""
    clone = Path(config.config_file_path).parent
    waiting = [Path(str(file.abs_src_path)) for file in files.documentation_pages()]
    while waiting:
        source = waiting.pop()
        for target in _find_outside(source, clone, Path(config.docs_dir)):
            uri = _site_uri(target, clone)
            if files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, content=_make_page(target, clone)))
                if target.suffix == ".md":
                    waiting.append(target)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to files outside docs/ lead to their pages, and rank the page in the search."""
    clone, docs = Path(config.config_file_path).parent, Path(config.docs_dir)
    uri = page.file.src_uri
    for folder, boost in _LOOKED_UP.items():
        if uri.startswith(f"{folder}/"):
            page.meta.setdefault("search", {"boost": boost})
    source = docs / uri
    if page.file.generated_by is not None:
        source = clone / uri.removeprefix(f"{_FOLDER}/").removesuffix(".md")
        if source.suffix != ".md":
            return markdown

    def redirect(link: re.Match[str]) -> str:
        target = (source.parent / link[1]).resolve()
        if not target.is_relative_to(clone):
            return link[0]
        inside = target.is_relative_to(docs)
        to = target.relative_to(docs).as_posix() if inside else _site_uri(target, clone)
        return os.path.relpath(to, Path(uri).parent) + (link[2] or "")

    return _LINK.sub(redirect, markdown)


def _find_outside(source: Path, clone: Path, docs: Path) -> Iterator[Path]:
    """The files outside docs/ that a Markdown file links to."""
    for target, _ in _LINK.findall(source.read_text(encoding="utf-8")):
        path = (source.parent / target).resolve()
        if path.is_relative_to(docs):
            continue
        if path.is_file() and path.is_relative_to(clone):
            yield path
        else:
            _log.warning("%s links to %s, which is not a file of the clone", source, target)


def _site_uri(target: Path, clone: Path) -> str:
    return f"{_FOLDER}/{target.relative_to(clone).as_posix()}.md"


def _make_page(target: Path, clone: Path) -> str:
    text = target.read_text(encoding="utf-8")
    if target.suffix == ".md":
        return text
    name = target.relative_to(clone).as_posix()
    return (
        f"# {target.name}\n\n`{name}`\n\n````{_LANGUAGES.get(target.suffix, 'text')}\n{text}````\n"
    )
