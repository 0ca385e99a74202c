"""Names of this namespace, one per line, loaded when first used."""

from rankbounds.checking.judgments import describe as describe

__all__: list[str]
