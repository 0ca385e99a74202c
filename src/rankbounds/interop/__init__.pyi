"""Names of this namespace, one per line, loaded when first used."""

from rankbounds.interop.pytrec_eval import RelevanceEvaluator as RelevanceEvaluator

__all__: list[str]
