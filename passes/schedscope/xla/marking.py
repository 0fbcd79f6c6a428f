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
    attribute: ir.DictAttr | None

    @property
    def entries(self) -> dict[str, ir.Attribute]:
        return {} if self.attribute is None else entries_of(self.attribute)

    def has(self, name: str) -> bool:
        return self.attribute is not None and name in self.attribute


def read_mark(attribute: ir.Attribute) -> Mark | None:
    """None where nothing in the dictionary concerns us."""
    if not isinstance(attribute, ir.DictAttr):
        wanted = f"{FRONTEND_ATTRIBUTES} = {attribute}, wanted a dictionary"
        return Mark(None, None, wanted, None, None)
    key_text = None
    if COMBINER_KEY in attribute:
        key = attribute[COMBINER_KEY]
        key_text = key.value if isinstance(key, ir.StringAttr) else None
    if GROUP_ID not in attribute:
        return None if key_text is None else Mark(None, None, None, key_text, attribute)
    written = attribute[GROUP_ID]
    if not isinstance(written, ir.StringAttr):
        return Mark(None, None, f"{GROUP_ID} = {written}, wanted a string", key_text, attribute)
    try:
        parsed = annotation.parse(written.value)
    except MalformedAnnotation as error:
        return Mark(written.value, None, str(error), key_text, attribute)
    return Mark(written.value, parsed.group, None, key_text, attribute)
