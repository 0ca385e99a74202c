"""What to cite: the papers that measures and tests come from, as BibTeX.

A measure names its sources by their keys (``sources``, one of its facts). Fields that could not be checked are left
out; a measure without an entry here comes from a program, or is a plain count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from rankbounds.measures.condensed import Condensed
from rankbounds.measures.measure import Measure
from rankbounds.measures.naming.parser import parse_measures

ENTRIES = r"""
@inproceedings{agrawal2009diversifying,
  author = {Agrawal, Rakesh and Gollapudi, Sreenivas and Halverson, Alan and Ieong, Samuel},
  title = {Diversifying Search Results},
  booktitle = {Proceedings of the Second ACM International Conference on Web Search and Data Mining (WSDM)},
  pages = {5--14},
  year = {2009},
  doi = {10.1145/1498759.1498766}
}

@inproceedings{azzopardi2018measuring,
  author = {Azzopardi, Leif and Thomas, Paul and Craswell, Nick},
  title = {Measuring the Utility of Search Engine Result Pages: An Information Foraging Based Measure},
  booktitle = {Proceedings of the 41st International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {605--614},
  year = {2018},
  doi = {10.1145/3209978.3210027}
}

@article{benjamini1995controlling,
  author = {Benjamini, Yoav and Hochberg, Yosef},
  title = {Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing},
  journal = {Journal of the Royal Statistical Society, Series B},
  volume = {57},
  number = {1},
  pages = {289--300},
  year = {1995}
}

@inproceedings{buckley2000evaluating,
  author = {Buckley, Chris and Voorhees, Ellen M.},
  title = {Evaluating Evaluation Measure Stability},
  booktitle = {Proceedings of the 23rd Annual International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {33--40},
  year = {2000},
  doi = {10.1145/345508.345543}
}

@inproceedings{buckley2004retrieval,
  author = {Buckley, Chris and Voorhees, Ellen M.},
  title = {Retrieval Evaluation with Incomplete Information},
  booktitle = {Proceedings of the 27th Annual International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {25--32},
  year = {2004},
  doi = {10.1145/1008992.1009000}
}

@incollection{buckley2005retrieval,
  author = {Buckley, Chris and Voorhees, Ellen M.},
  title = {Retrieval System Evaluation},
  booktitle = {{TREC}: Experiment and Evaluation in Information Retrieval},
  editor = {Voorhees, Ellen M. and Harman, Donna K.},
  chapter = {3},
  publisher = {MIT Press},
  year = {2005}
}

@inproceedings{burges2005learning,
  author = {Burges, Chris and Shaked, Tal and Renshaw, Erin and Lazier, Ari and Deeds, Matt and Hamilton, Nicole and Hullender, Greg},
  title = {Learning to Rank Using Gradient Descent},
  booktitle = {Proceedings of the 22nd International Conference on Machine Learning (ICML)},
  pages = {89--96},
  year = {2005},
  doi = {10.1145/1102351.1102363}
}

@article{carterette2012multiple,
  author = {Carterette, Benjamin A.},
  title = {Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval Experiments},
  journal = {ACM Transactions on Information Systems},
  volume = {30},
  number = {1},
  pages = {4:1--4:34},
  year = {2012},
  doi = {10.1145/2094072.2094076}
}

@inproceedings{chapelle2009expected,
  author = {Chapelle, Olivier and Metzler, Donald and Zhang, Ya and Grinspan, Pierre},
  title = {Expected Reciprocal Rank for Graded Relevance},
  booktitle = {Proceedings of the 18th ACM Conference on Information and Knowledge Management (CIKM)},
  pages = {621--630},
  year = {2009},
  doi = {10.1145/1645953.1646033}
}

@inproceedings{clarke2008novelty,
  author = {Clarke, Charles L. A. and Kolla, Maheedhar and Cormack, Gordon V. and Vechtomova, Olga and Ashkan, Azin and B{\"u}ttcher, Stefan and MacKinnon, Ian},
  title = {Novelty and Diversity in Information Retrieval Evaluation},
  booktitle = {Proceedings of the 31st Annual International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {659--666},
  year = {2008},
  doi = {10.1145/1390334.1390446}
}

@inproceedings{clarke2009effectiveness,
  author = {Clarke, Charles L. A. and Kolla, Maheedhar and Vechtomova, Olga},
  title = {An Effectiveness Measure for Ambiguous and Underspecified Queries},
  booktitle = {Advances in Information Retrieval Theory (ICTIR)},
  series = {Lecture Notes in Computer Science},
  volume = {5766},
  pages = {188--199},
  publisher = {Springer},
  year = {2009}
}

@article{clarke2021assessing,
  author = {Clarke, Charles L. A. and Vtyurina, Alexandra and Smucker, Mark D.},
  title = {Assessing Top-$k$ Preferences},
  journal = {ACM Transactions on Information Systems},
  volume = {39},
  number = {3},
  pages = {33:1--33:21},
  year = {2021},
  doi = {10.1145/3451161}
}

@article{cooper1968expected,
  author = {Cooper, William S.},
  title = {Expected Search Length: A Single Measure of Retrieval Effectiveness Based on the Weak Ordering Action of Retrieval Systems},
  journal = {American Documentation},
  volume = {19},
  number = {1},
  pages = {30--41},
  year = {1968}
}

@inproceedings{debeer2006rpref,
  author = {De Beer, Jan and Moens, Marie-Francine},
  title = {Rpref: A Generalization of Bpref towards Graded Relevance Judgments},
  booktitle = {Proceedings of the 29th Annual International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {637--638},
  year = {2006}
}

@article{dunnett1955multiple,
  author = {Dunnett, Charles W.},
  title = {A Multiple Comparison Procedure for Comparing Several Treatments with a Control},
  journal = {Journal of the American Statistical Association},
  volume = {50},
  number = {272},
  pages = {1096--1121},
  year = {1955}
}

@article{holm1979simple,
  author = {Holm, Sture},
  title = {A Simple Sequentially Rejective Multiple Test Procedure},
  journal = {Scandinavian Journal of Statistics},
  volume = {6},
  number = {2},
  pages = {65--70},
  year = {1979}
}

@article{jarvelin2002cumulated,
  author = {J{\"a}rvelin, Kalervo and Kek{\"a}l{\"a}inen, Jaana},
  title = {Cumulated Gain-Based Evaluation of {IR} Techniques},
  journal = {ACM Transactions on Information Systems},
  volume = {20},
  number = {4},
  pages = {422--446},
  year = {2002},
  doi = {10.1145/582415.582418}
}

@inproceedings{meng2004user,
  author = {Meng, X. and Chen, Z.},
  title = {On User-Oriented Measurements of Effectiveness of Web Information Retrieval Systems},
  booktitle = {Proceedings of the International Conference on Internet Computing},
  pages = {527--533},
  publisher = {CSREA Press},
  year = {2004}
}

@article{moffat2008rank,
  author = {Moffat, Alistair and Zobel, Justin},
  title = {Rank-Biased Precision for Measurement of Retrieval Effectiveness},
  journal = {ACM Transactions on Information Systems},
  volume = {27},
  number = {1},
  pages = {2:1--2:27},
  year = {2008},
  doi = {10.1145/1416950.1416952}
}

@inproceedings{moffat2012models,
  author = {Moffat, Alistair and Scholer, Falk and Thomas, Paul},
  title = {Models and Metrics: {IR} Evaluation as a User Process},
  booktitle = {Proceedings of the Seventeenth Australasian Document Computing Symposium (ADCS)},
  pages = {47--54},
  year = {2012},
  doi = {10.1145/2407085.2407092}
}

@inproceedings{moffat2015inst,
  author = {Moffat, Alistair and Bailey, Peter and Scholer, Falk and Thomas, Paul},
  title = {{INST}: An Adaptive Metric for Information Retrieval Evaluation},
  booktitle = {Proceedings of the 20th Australasian Document Computing Symposium (ADCS)},
  pages = {5:1--5:4},
  year = {2015},
  doi = {10.1145/2838931.2838938}
}

@article{moffat2017incorporating,
  author = {Moffat, Alistair and Bailey, Peter and Scholer, Falk and Thomas, Paul},
  title = {Incorporating User Expectations and Behavior into the Measurement of Search Effectiveness},
  journal = {ACM Transactions on Information Systems},
  volume = {35},
  number = {3},
  year = {2017},
  doi = {10.1145/3052768}
}

@inproceedings{moffat2022flexible,
  author = {Moffat, Alistair and Mackenzie, Joel and Thomas, Paul and Azzopardi, Leif},
  title = {A Flexible Framework for Offline Effectiveness Metrics},
  booktitle = {Proceedings of the 45th International ACM SIGIR Conference on Research and Development in Information Retrieval},
  year = {2022},
  doi = {10.1145/3477495.3531924}
}

@inproceedings{park2016uncertainty,
  author = {Park, Laurence A. F.},
  title = {Uncertainty in Rank-Biased Precision},
  booktitle = {Proceedings of the 21st Australasian Document Computing Symposium (ADCS)},
  year = {2016},
  doi = {10.1145/3015022.3015029}
}

@inproceedings{robertson2006gmap,
  author = {Robertson, Stephen},
  title = {On {GMAP}: And Other Transformations},
  booktitle = {Proceedings of the 15th ACM International Conference on Information and Knowledge Management (CIKM)},
  pages = {78--83},
  year = {2006},
  doi = {10.1145/1183614.1183630}
}

@inproceedings{robertson2012smoothing,
  author = {Robertson, Stephen},
  title = {On Smoothing Average Precision},
  booktitle = {Advances in Information Retrieval (ECIR)},
  series = {Lecture Notes in Computer Science},
  volume = {7224},
  pages = {158--169},
  publisher = {Springer},
  year = {2012}
}

@inproceedings{sakai2006evaluating,
  author = {Sakai, Tetsuya},
  title = {Evaluating Evaluation Metrics Based on the Bootstrap},
  booktitle = {Proceedings of the 29th Annual International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {525--532},
  year = {2006},
  doi = {10.1145/1148170.1148261}
}

@inproceedings{sakai2007alternatives,
  author = {Sakai, Tetsuya},
  title = {Alternatives to Bpref},
  booktitle = {Proceedings of the 30th Annual International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {71--78},
  year = {2007},
  doi = {10.1145/1277741.1277756}
}

@inproceedings{sakai2013summaries,
  author = {Sakai, Tetsuya and Dou, Zhicheng},
  title = {Summaries, Ranked Retrieval and Sessions: A Unified Framework for Information Access Evaluation},
  booktitle = {Proceedings of the 36th International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {473--482},
  year = {2013},
  doi = {10.1145/2484028.2484031}
}

@article{schuirmann1987comparison,
  author = {Schuirmann, Donald J.},
  title = {A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the Equivalence of Average Bioavailability},
  journal = {Journal of Pharmacokinetics and Biopharmaceutics},
  volume = {15},
  number = {6},
  pages = {657--680},
  year = {1987}
}

@article{shaw1986foundation,
  author = {{Shaw, Jr.}, W. M.},
  title = {On the Foundation of Evaluation},
  journal = {Journal of the American Society for Information Science},
  volume = {37},
  number = {5},
  pages = {346--348},
  year = {1986}
}

@inproceedings{smucker2007comparison,
  author = {Smucker, Mark D. and Allan, James and Carterette, Ben},
  title = {A Comparison of Statistical Significance Tests for Information Retrieval Evaluation},
  booktitle = {Proceedings of the 16th ACM Conference on Information and Knowledge Management (CIKM)},
  pages = {623--632},
  year = {2007},
  doi = {10.1145/1321440.1321528}
}

@inproceedings{smucker2012time,
  author = {Smucker, Mark D. and Clarke, Charles L. A.},
  title = {Time-Based Calibration of Effectiveness Measures},
  booktitle = {Proceedings of the 35th International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {95--104},
  year = {2012},
  doi = {10.1145/2348283.2348300}
}

@book{vanrijsbergen1979information,
  author = {van Rijsbergen, C. J.},
  title = {Information Retrieval},
  edition = {2nd},
  publisher = {Butterworths},
  address = {London},
  year = {1979}
}

@inproceedings{voorhees1999trec8,
  author = {Voorhees, Ellen M.},
  title = {The {TREC-8} Question Answering Track Report},
  booktitle = {Proceedings of the Eighth Text REtrieval Conference (TREC-8)},
  year = {1999}
}

@inproceedings{voorhees2003overview,
  author = {Voorhees, Ellen M.},
  title = {Overview of the {TREC} 2003 Question Answering Track},
  booktitle = {Proceedings of the Twelfth Text REtrieval Conference (TREC 2003)},
  year = {2003}
}

@article{wilcoxon1945individual,
  author = {Wilcoxon, Frank},
  title = {Individual Comparisons by Ranking Methods},
  journal = {Biometrics Bulletin},
  volume = {1},
  number = {6},
  pages = {80--83},
  year = {1945}
}

@inproceedings{yang2016precise,
  author = {Yang, Ziying and Moffat, Alistair and Turpin, Andrew},
  title = {How Precise Does Document Scoring Need to Be?},
  booktitle = {Information Retrieval Technology (AIRS)},
  series = {Lecture Notes in Computer Science},
  publisher = {Springer},
  year = {2016}
}

@inproceedings{yilmaz2006estimating,
  author = {Yilmaz, Emine and Aslam, Javed A.},
  title = {Estimating Average Precision with Incomplete and Imperfect Judgments},
  booktitle = {Proceedings of the 15th ACM International Conference on Information and Knowledge Management (CIKM)},
  pages = {102--111},
  year = {2006},
  doi = {10.1145/1183614.1183633}
}

@inproceedings{yilmaz2008simple,
  author = {Yilmaz, Emine and Kanoulas, Evangelos and Aslam, Javed A.},
  title = {A Simple and Efficient Sampling Method for Estimating {AP} and {NDCG}},
  booktitle = {Proceedings of the 31st Annual International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {603--610},
  year = {2008},
  doi = {10.1145/1390334.1390437}
}

@inproceedings{zhai2003beyond,
  author = {Zhai, ChengXiang and Cohen, William W. and Lafferty, John},
  title = {Beyond Independent Relevance: Methods and Evaluation Metrics for Subtopic Retrieval},
  booktitle = {Proceedings of the 26th Annual International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {10--17},
  year = {2003},
  doi = {10.1145/860435.860440}
}

@inproceedings{zhang2008parameter,
  author = {Zhang, Yuye and Park, Laurence A. F. and Moffat, Alistair},
  title = {Parameter Sensitivity in Rank-Biased Precision},
  booktitle = {Proceedings of the 13th Australasian Document Computing Symposium (ADCS)},
  year = {2008}
}

@inproceedings{zhang2017evaluating,
  author = {Zhang, Fan and Liu, Yiqun and Li, Xin and Zhang, Min and Xu, Yinghui and Ma, Shaoping},
  title = {Evaluating Web Search with a Bejeweled Player Model},
  booktitle = {Proceedings of the 40th International ACM SIGIR Conference on Research and Development in Information Retrieval},
  year = {2017},
  doi = {10.1145/3077136.3080841}
}
"""  # noqa: E501


@cache
def entries() -> dict[str, str]:
    """The entries by their keys."""
    parts = [part.strip() for part in ENTRIES.strip().split("\n\n")]
    return {part[part.index("{") + 1 : part.index(",")]: part for part in parts}


def sources_of(measure: Measure) -> tuple[str, ...]:
    """The keys of what to cite for a measure; empty where there is no paper that it comes from."""
    if isinstance(measure, Condensed):
        return tuple(dict.fromkeys([*sources_of(measure.measure), "sakai2007alternatives"]))
    exponential = ("burges2005learning",) if getattr(measure, "gain", None) == "exp" else ()
    return (*measure.sources, *exponential)


def bibtex(measures: str | Measure | Iterable[str | Measure] | None = None, also: Sequence[str] = ()) -> str:
    r"""The papers that measures come from, as BibTeX.

    Parameters
    ----------
    measures : str, Measure, or several of these, optional
        Those that were used; everything that this package knows to cite where none are named.
    also : sequence of str
        Keys of more entries, such as ``smucker2007comparison``.

    Returns
    -------
    str
        An entry for each paper, in the order of the measures. A measure that has none (a count, or one that a program
        defines) adds nothing.

    Notes
    -----
    Fields that could not be checked, such as some page numbers, are left out.

    Examples
    --------
    >>> import rankbounds as rb
    >>> print(rb.bibtex("nDCG@10"), end="")
    @article{jarvelin2002cumulated,
      author = {J{\"a}rvelin, Kalervo and Kek{\"a}l{\"a}inen, Jaana},
      title = {Cumulated Gain-Based Evaluation of {IR} Techniques},
      journal = {ACM Transactions on Information Systems},
      volume = {20},
      number = {4},
      pages = {422--446},
      year = {2002},
      doi = {10.1145/582415.582418}
    }
    >>> rb.bibtex(["AP'", "NumRel"]).count("@inproceedings")
    2

    """
    known = entries()
    if measures is None:
        keys = [*known]
    else:
        keys = [key for measure in parse_measures(measures) for key in sources_of(measure)]
    return "\n".join(f"{known[key]}\n" for key in dict.fromkeys([*keys, *also]))


def cited_in(text: str) -> list[str]:
    r"""The keys that ``\cite`` names in a text, each once."""
    named = (key.strip() for keys in re.findall(r"\\cite\{([^}]*)\}", text) for key in keys.split(","))
    return list(dict.fromkeys(named))
