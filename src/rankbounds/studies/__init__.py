"""The papers' experiments on your runs, one module per paper; each study is called like a function.

``score_by_judgment_rate(qrels, runs)`` returns its rows and the answer in words, ``.draw(result)`` its figure.
"""

from rankbounds.loading import load_when_used

__getattr__, __dir__, __all__ = load_when_used(__name__)

for _name in __all__:  # a study is known to the command line once its module is loaded
    __getattr__(_name)
