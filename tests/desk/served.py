"""A server of the judging page with everything behind it, and what a page would ask of it."""

from __future__ import annotations

import http.client
import json
import threading
import time

from rankbounds.desk import server as serving
from rankbounds.desk.desk import Desk, Settings
from rankbounds.desk.judgment_file import JudgmentFile
from rankbounds.desk.planning import Planning
from rankbounds.report import Choices
from rankbounds.report.page import Live


class Served:
    """A server with everything behind it, and what a page would ask of it."""

    def __init__(self, collection, *, goal=None, token=None, host="127.0.0.1", **settings):
        self.qrels = collection / "qrels.txt"
        self.live = Live(str(self.qrels), [str(collection / "runs")], Choices.of(measures=["RBP(p=0.8)"]), judging=True)
        self.desk = Desk(JudgmentFile(self.qrels), Settings(**settings))
        self.planning = Planning(self.desk, self.live, goal, in_process=False) if goal is not None else None
        self.office = serving.Office(self.live, self.desk, self.planning)
        self.office.report = self.live.page  # in this process
        self.listening = serving.server(self.office, host, 0, token)
        self.port = self.listening.server_address[1]
        self.thread = threading.Thread(target=self.listening.serve_forever, args=(0.05,))
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listening.shutdown()
        self.listening.server_close()
        self.thread.join()
        self.office.close()

    def ask(self, method, path, message=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request(method, path, None if message is None else json.dumps(message), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def say(self, what, **message):
        """What a page says: the status, and the answer."""
        answer, text = self.ask("POST", f"/{what}", message, **{"X-Token": self.office.page_token})
        return answer.status, json.loads(text)


def judgment(doc, grade=1, judge="ann", query="1", **more):
    return {"query_id": query, "doc_id": doc, "grade": grade, "judge": judge, "page": judge, **more}


def waited_for(condition):
    for _ in range(2_400):
        if held := condition():
            return held
        time.sleep(0.05)
    raise AssertionError("it did not come")
