"""What tests share: the command line, real data (tests of it are skipped where it is absent), and one Spark session."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tarfile
import time
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

import rankbounds
from rankbounds.cli import main
from rankbounds.columns import native
from real_data import archive

# How long an example takes says more of the machine than of the code. Where a change is judged, the examples are the
# same each time; everywhere else they are new ones.
settings.register_profile("any machine", deadline=None, max_examples=50, derandomize=bool(os.environ.get("CI")))
settings.load_profile("any machine")

# Folders mirror the rooms of the package. Tests of new measures and tests of significance hold other folders' laws.
sys.path += [str(folder) for folder in sorted(Path(__file__).parent.iterdir()) if folder.is_dir()]


def pytest_collection_modifyitems(items):
    """Coverage is not measured on examples by the hundred: before Python 3.12 watching doubles the time of a test."""
    for item in items:
        if sys.version_info < (3, 12) and is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("no_cover")


@pytest.fixture(scope="module", autouse=True)
def heap_of_the_tests_alone():
    """Garbage is looked for in what a module makes, not in what pytest and earlier modules hold: ten times the work."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory):
    """Unpack an archive of real data once, whichever of the processes that run tests comes first; return the folder."""
    parallel = "PYTEST_XDIST_WORKER" in os.environ
    place = tmp_path_factory.getbasetemp().parent if parallel else tmp_path_factory.getbasetemp()

    def unpack(name: str) -> Path:
        target = place / f"unpacked-{name.split('.')[0]}"
        if target.exists():
            return target
        source = archive(name)
        begun = target.with_suffix(".begun")
        try:
            begun.mkdir()
        except FileExistsError:
            while not target.exists() and begun.exists():
                time.sleep(0.1)
            return unpack(name)
        try:
            with tarfile.open(source) as tar:
                tar.extractall(begun, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
            begun.rename(target)
        finally:
            shutil.rmtree(begun, ignore_errors=True)
        return target

    return unpack


@pytest.fixture(scope="module", params=["kernel", "NumPy"])
def both_ways(request):
    """Everything in a module once by the compiled kernel and once by NumPy alone."""
    if request.param == "kernel" and native.built is None:
        pytest.skip("the kernel was not built: no compiler was there when the package was installed")
    with native.switched(request.param):
        yield request.param


@pytest.fixture
def command(capfdbinary):
    """Run a command; return exit code, standard output and standard error."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return call


@pytest.fixture(scope="session")
def spark_session():
    """Spark on this machine with two workers; skips where PySpark or Java is missing."""
    sql = pytest.importorskip("pyspark.sql", reason='PySpark is not installed: pip install "rankbounds[spark]"')
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("Spark needs Java 17, and there is no java on this machine")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    source = os.path.dirname(os.path.dirname(rankbounds.__file__))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    builder = sql.SparkSession.builder.master("local[2]").appName("tests").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "1g")
    try:
        session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except Exception as error:
        pytest.skip(f"Spark does not start here (it needs Java 17): {error}")
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
