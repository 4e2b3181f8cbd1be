"""What a secret looks like, and what stands in its place.

Called in the parse workers before anything is written. Every process of a run is given the same key (`configure`), so
that the same secret gets the same placeholder everywhere in a report, and nobody without the key can try out guesses.
"""

from analyzer.redact.objects import mask_document, mask_object
from analyzer.redact.placeholder import configure, is_masked, new_key, placeholder
from analyzer.redact.text import mask_text

__all__ = [
    "configure",
    "is_masked",
    "mask_document",
    "mask_object",
    "mask_text",
    "new_key",
    "placeholder",
]
