#!/usr/bin/env bash
# Builds the kernel with the address and undefined-behaviour sanitizers, in a copy of the checkout, and runs its tests and
# half a minute of fuzzing with them. Needs gcc and the packages that the tests need.
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
CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer" \
    "$python" setup.py -q build_ext --inplace
# Python keeps memory until it ends: leaks are not looked for.
export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0 PYTHONPATH="$copy/src" PYTHONMALLOC=malloc
"$python" -c "from rankbounds.columns import native; assert native.in_use(), 'the kernel was not built'"
"$python" -m pytest -p no:cacheprovider -n 0 tests/test_native.py tests/test_reading.py
"$python" - <<'PYTHON'
import sys, tempfile, time
from pathlib import Path
sys.path.insert(0, "benchmarks")
import fuzz
from fuzzing.case import run
end, number = time.process_time() + 30, 0
with tempfile.TemporaryDirectory() as folder:
    while time.process_time() < end:
        run(fuzz.case_of(1, number, ["kernel"])[1], Path(folder) / "case")
        number += 1
print(f"{number} cases of fuzzing: nothing found")
PYTHON
