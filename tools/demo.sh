#!/usr/bin/env bash
# The demo: builds the Python module for what this machine can run (cmake/cuda_choice.cmake decides), says what machine
# there is, diffuses a photograph on all its devices, solves linear systems, and ends with what was gained.
set -euo pipefail
cd "$(dirname "$0")/.."

python=$(tools/setup --or-system build demo) # machines with GPUs often have all packages and no network
PATH="$("$python" -c 'import sysconfig; print(sysconfig.get_path("scripts"))'):$PATH"
export PATH PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}"

preset=host
if [ "$(cmake -P cmake/cuda_choice.cmake)" = on ]; then preset=cuda; fi

log=build/demo-build.log
mkdir -p build
echo "building for: $preset (details in $log)"
build() {
  cmake --preset "$preset" -DPython_EXECUTABLE="$python" -DSTARLING_PYTHON_INPLACE=ON &&
    cmake --build "build/$preset" --target starling_python
}
if ! build >"$log" 2>&1; then
  tail -n 40 "$log"
  exit 1
fi

"$python" -m starling doctor
"$python" examples/diffuse_photograph.py --summary build/demo-stencil.txt
"$python" examples/solve_matrix.py --summary build/demo-cg.txt
"$python" -m starling solve demo_out/bar.mtx --preconditioner jacobi --rtol 1e-8 --out demo_out/bar_x.npy \
  --plot demo_out/bar.png --report demo_out/bar.json
echo
echo "In this run: $(cat build/demo-stencil.txt); $(cat build/demo-cg.txt)."
