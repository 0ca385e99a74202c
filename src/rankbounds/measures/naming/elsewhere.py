"""What other tools call measures, and what each name means here: data only.

A measure's own file has its name, its aliases and trec_eval's names for it (``trec_names``). This file has names of
other tools, trec_eval's names for several measures, names whose meaning differs between tools, and those without a
counterpart. Lookup ignores case, ``_`` and ``-``.

If two tools give one name different meanings, our own names come first, then trec_eval's, then those of the tools in
the order of ``NAMES``; ``DIFFERENT`` says what the others mean and how to ask for it.
"""

from __future__ import annotations

_ES = "Elasticsearch and OpenSearch"
NAMES: dict[str, dict[str, str]] = {
    "trec_eval": {
        "prefs_num_prefs_ful_ret": "NumPrefsFulfilled(retrieved=2)",
        **{
            f"prefs_{name}{ending}": f"PrefShare(average={average},retrieved={retrieved})"
            for name, average in (("simp", "preferences"), ("pair", "pairs"), ("avgjg", "groups"))
            for ending, retrieved in (("", 0), ("_imp", 1), ("_ret", 2))
        },
    },
    "ir_measures": {
        "BPref": "Bpref",
        "SetR": "Recall",
        "SetF": "F",
        "SetRelP": "RelP",
        "MAP_IA": "AP_IA",
        "\u03b1_DCG": "alpha_DCG",
        "\u03b1_nDCG": "alpha_nDCG",
        "StRecall": "StRec",
    },
    "ranx": {
        "hit_rate": "Success",
        "f1": "F",
        "r-precision": "RPrec",
        "ndcg_burges": "nDCG(gain=exp)",
        "dcg_burges": "DCG(gain=exp)",
        "average_precision": "AP",
        "reciprocal_rank": "RR",
        "rank_biased_precision": "RBP",
    },
    "papers": {"AveP": "AP", "bpref_allnonrel": "Bpref_N", "old_bpref": "Bpref_old"},
    "BEIR and MTEB": {"R_cap": "RelP", "hit": "Success", "mean_average_precision": "AP", "top_k_accuracy": "Success"},
    _ES: {"mean_reciprocal_rank": "RR", "expected_reciprocal_rank": "ERR", "coverage": "Judged"},
    "ragas": {
        "context_precision": "AP*",
        "non_llm_context_precision_with_reference": "AP*",
        "id_based_context_precision": "SetP",
        "context_recall": "Recall",
        "non_llm_context_recall": "Recall",
        "id_based_context_recall": "Recall",
    },
    "LongMemEval": {"recall_any": "Success"},
    "trulens": {"ir_hit_rate": "Success"},
    "haystack": {
        "document_map": "AP",
        "document_mrr": "RR",
        "document_ndcg": "nDCG",
        "document_recall_multi_hit": "Recall",
    },
    "torchmetrics": {
        "retrieval_average_precision": "AP*",
        "retrieval_map": "AP*",
        "retrieval_reciprocal_rank": "RR",
        "retrieval_mrr": "RR",
        "retrieval_hit_rate": "Success",
        "retrieval_normalized_dcg": "nDCG",
        "retrieval_precision": "P",
        "retrieval_recall": "Recall",
        "retrieval_r_precision": "RPrec",
    },
    "sentence-transformers": {
        f"{similarity}_{theirs}": ours
        for similarity in ("cosine", "dot", "euclidean", "manhattan")
        for theirs, ours in {
            **{"accuracy": "Success", "precision": "P", "recall": "Recall"},
            **{"ndcg": "nDCG", "mrr": "RR", "map": "AP"},
        }.items()
    },
}
"""For each tool, in the order that decides: its name, and the label that the name stands for."""

_DEPTHS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
FAMILIES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("P", "recall", "map_cut", "ndcg_cut", "relative_P", "P_avgjg"), _DEPTHS),
    "success": ("1", "5", "10"),
    "unj": ("5", "10", "20"),
    "iprec_at_recall": tuple(f"{tenth / 10:.2f}" for tenth in range(11)),
    **dict.fromkeys(("Rprec_mult", "Rprec_mult_avgjg"), tuple(f"{tenth / 5:.2f}" for tenth in range(1, 11))),
}
"""trec_eval's names for a measure at several depths (or points), and those that it takes where none are given."""

_COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
_OFFICIAL = (*_COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P")
_PREFERENCES = (
    *("runid", "num_q", "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret"),
    *("prefs_simp", "prefs_pair", "prefs_avgjg"),
)
NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": _OFFICIAL,
    "set": (*_COUNTS, "utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    "all_trec": (
        *_OFFICIAL,
        *("relstring", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG", "G", "ndcg"),
        *("ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", "set_P", "set_relative_P", "set_recall"),
        *("set_map", "set_F", "num_nonrel_judged_ret", "rbp", "rbp_resid", "unj"),
    ),
    "prefs": _PREFERENCES,
    "all_prefs": (
        *(*_PREFERENCES, "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret"),
        *("prefs_avgjg_Rnonrel_ret", "prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp"),
    ),
    "qrels_jg": ("runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
}
"""trec_eval's names for several measures, in the order in which it prints them."""

AT_SIGN = {"IPrec": "recall"}
"""What comes after the @ where it is not a depth: ``IPrec@0.1``."""

WITH_PARAMETER = {("SetP", "relative"): "RelP", ("NumRet", "rel"): "NumRelRet"}
"""ir_measures' names that are another measure here where a parameter is given."""

DIFFERENT: tuple[tuple[str, str, str, str], ...] = (
    ("RBP", "trec_eval", "rbp", "p = 0.9, and grades divided by the topic's largest; written in small letters"),
    ("RBP", "ir_measures", "RBP(graded=true)", "without rel= it takes grades, divided by the collection's largest"),
    ("RBP", "ranx", "", "takes grades as they are, not divided by the largest, so that it can be above 1"),
    ("ERR", "ir_measures", "ERR(max_grade=4)", "takes 4 for the largest grade, whatever the judgments hold"),
    ("IPrec", "trec_eval 9, ir_measures", "", "recall r of R documents is reached with floor(r R + 0.9) of them"),
    ("Judged", "ir_measures", "Judged", "counts documents with grade -1 (pooled, not judged) as judged"),
    ("nDCG", "ranx", "nDCG", "ties are in the order that sorting leaves; with a level (-l2), lower grades gain 0"),
    ("nDCG", "scikit-learn", "", "the ideal ranking holds the scored documents only"),
    ("DCG", _ES, "DCG(gain=exp)", "gains are 2^grade - 1, and the depth is 10 if none is given"),
    ("P", _ES, "P@10", "the depth is 10 if none is given, and a shorter list is divided by its length"),
    ("P", "ranx", "SetP", "without a depth, the whole list"),
    ("P", "trec_eval", "P.5,10,15,20,30,100,200,500,1000", "without a depth, these nine"),
    ("Recall", "trec_eval", "recall.5,10,15,20,30,100,200,500,1000", "without a depth, these nine"),
    ("Success", "trec_eval", "success.1,5,10", "without a depth, these three"),
    ("F", "trec_eval, ir_measures", "set_F.X", "X (beta in ir_measures) is the square of our beta, the same at 1"),
    ("AP*", "ragas", "", "its context_precision adds 1e-10 to the divisor, so that a perfect list has 0.9999999999"),
    ("AP", "torchmetrics", "", "knows the scored documents only, and divides by the relevant ones among them"),
    ("AP", "sentence-transformers", "", "AP@k is divided by k where more than k documents are relevant, not by all"),
    ("AP", "llama-index", "", "divides by the number of expected ids; a repeated id counts again, up to above 1"),
    ("nDCG", "MLflow", "", "the ideal is cut at what was retrieved: one retrieved of five expected has 1"),
    ("nDCG", "llama-index", "", "a repeated id gains again, so that the value can be above 1"),
    (
        "nDCG",
        "torchmetrics",
        "",
        "the ideal ranking holds the scored documents only, and tied documents share their gain",
    ),
    ("P", "MLflow, trulens", "", "a list shorter than k is divided by its length"),
    ("Recall", "trulens", "", "with scores, all documents count whose score is that of the k-th"),
    ("P", "llama-index", "SetP", "the distinct ids retrieved that are expected, over all distinct ids retrieved"),
    ("P", "torchmetrics", "SetP", "without top_k, k is the number of scored documents"),
    ("Recall", "torchmetrics", "", "only relevant documents that were scored are counted, so a complete list has 1"),
    ("Success", "llama-index", "Success", "hit_rate asks whether any expected id was retrieved, at whatever rank"),
    ("Success", "haystack", "Success", "DocumentRecallEvaluator with mode single_hit, at whatever rank"),
    ("Hits", "papers on knowledge graphs", "Success", "the share of questions with a hit, where ranx counts the hits"),
    ("Unjudged", "BEIR", "", "its Hole@k counts documents that no topic's judgments know, so that it is lower"),
)
"""Our name, the tool that means something else by it, how to ask for that here (empty: there is no way), and why."""

_R_NONRELEVANT = (
    "also counts pairs of documents of level 0 as preferences; PrefShareR is what its help describes, and the command "
    "trec_eval prints its number"
)
ABSENT: dict[str, str] = {
    "runid": "is the run's name, no number; the command trec_eval prints it",
    "relstring": "is text, no number; the command trec_eval prints it",
    "rbp_resid": "is what RBP(p=0.9) prints after its value (high - low); the command trec_eval prints it alone",
    **dict.fromkeys(("prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel_ret"), _R_NONRELEVANT),
    "Accuracy": "is Success@k where top-k accuracy is meant, as in BEIR; the probability that a relevant document ranks"
    " above another, which ir_measures calls so, is not here",
    "Compat": "adds up to the end of the list or of the ideal ranking, whichever is longer; Compatibility(p=0.95) "
    "adds up to depth 1000, as its authors do",
    "E": "is 1 - F, of which less is better; write F@10, or F(beta=2)@10",
    "Hole": "counts documents that no topic's judgments know; Unjudged@10 counts those not judged for the topic",
}
"""Names for which there is nothing here, and what to know about them."""
