#!/usr/bin/env bash
# Builds the kernel with the address and undefined-behaviour sanitizers, in a copy of the checkout, and runs its tests,
# those of reading and of runs in dicts, and half a minute of fuzzing with them; then its tests once more without the
# wide instructions of x86, as other processors run it. Needs gcc and the packages that the tests need; the setuptools
# that pyproject.toml asks for are installed beside the copy where the environment has older ones, as new ones of 3.11 do.
#
#     bash benchmarks/sanitize.sh [PYTHON]
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(command -v "${1:-python3}")
case $python in /*) ;; *) python=$PWD/$python ;; esac
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r setup.py pyproject.toml README.md LICENSE src tests benchmarks "$copy"
cd "$copy"
rm -rf benchmarks/data
find . -name '*.so' -delete
flags="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
if ! "$python" -c "import setuptools.command.bdist_wheel" 2>/dev/null; then
    "$python" -m pip install --quiet --target "$copy/setuptools" "$(grep -o "setuptools>=[0-9]*" pyproject.toml)"
fi
build() { PYTHONPATH="$copy/setuptools" "$python" setup.py -q build_ext --inplace "$@"; }
CFLAGS=$flags build
# Python keeps memory until it ends: leaks are not looked for.
sanitized() {
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
        ASAN_OPTIONS=detect_leaks=0 PYTHONPATH="$copy/src" PYTHONMALLOC=malloc "$python" "$@"
}
in_use="from rankbounds.columns import native; assert native.in_use(), 'the kernel was not built'"
sanitized -c "$in_use"
sanitized -m pytest -p no:cacheprovider -n 0 tests/columns/test_native.py tests/files/test_reading.py tests/evaluation/test_evaluator.py
sanitized - <<'PYTHON'
import sys, tempfile, time
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, "benchmarks")
import fuzz
from fuzzing.case import run
end, number = time.process_time() + 30, 0
with tempfile.TemporaryDirectory() as folder:
    while time.process_time() < end:
        case = replace(fuzz.case_of(1, number, ["kernel"])[1], seconds=60)  # sanitizers take their time
        run(case, Path(folder) / "case")
        number += 1
print(f"{number} cases of fuzzing: nothing found")
PYTHON
CFLAGS="$flags -U__SSE2__" build --force
sanitized -c "$in_use"
sanitized -m pytest -p no:cacheprovider -n 0 tests/columns/test_native.py
