"""What frontend attributes say, as lint reads them: an annotation that XLA would choke on is no
error here but something to tell of."""

from __future__ import annotations

from typing import NamedTuple

from schedscope import annotation
from schedscope._mlir import entries_of, ir
from schedscope.annotation import (
    COMBINER_KEY,
    FRONTEND_ATTRIBUTES,
    GROUP_ID,
    MalformedAnnotation,
)


class Mark(NamedTuple):
    """What one frontend attribute dictionary says."""

    text: str | None
    """The annotation's."""
    group: int | None
    malformed: str | None
    """What is wrong with the annotation."""
    combiner_key: str | None
    entries: dict[str, ir.Attribute]


def read_mark(attribute: ir.Attribute) -> Mark | None:
    """None where nothing in the dictionary concerns us."""
    if not isinstance(attribute, ir.DictAttr):
        wanted = f"{FRONTEND_ATTRIBUTES} = {attribute}, wanted a dictionary"
        return Mark(None, None, wanted, None, {})
    entries = entries_of(attribute)
    key = entries.get(COMBINER_KEY)
    key_text = ir.StringAttr(key).value if isinstance(key, ir.StringAttr) else None
    written = entries.get(GROUP_ID)
    if written is None:
        return None if key_text is None else Mark(None, None, None, key_text, entries)
    if not isinstance(written, ir.StringAttr):
        return Mark(None, None, f"{GROUP_ID} = {written}, wanted a string", key_text, entries)
    try:
        parsed = annotation.parse(written.value)
    except MalformedAnnotation as error:
        return Mark(written.value, None, str(error), key_text, entries)
    return Mark(written.value, parsed.group, None, key_text, entries)
