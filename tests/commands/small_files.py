"""A small collection with an unjudged document, and a run of it."""

QRELS = "1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 1\n"
RUN = "1 Q0 a 1 3.0 mine\n1 Q0 x 2 2.0 mine\n1 Q0 c 3 1.0 mine\n2 Q0 b 1 1.0 mine\n2 Q0 a 2 0.5 mine\n"
