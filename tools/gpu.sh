#!/usr/bin/env bash
# Builds for GPUs, runs the tests on the GPUs of this machine, then short benchmarks. Where GPUs are fewer than four, the
# tests run twice: with a PE each, and with so many PEs on each GPU that no test lacks any. Works without a network where the
# system's python3 has the packages; otherwise makes .venv first. The log and results go to $OUT (build/gpu).
#
#   MEMCHECK="command ..."   what compute-sanitizer runs (tests of puts, signals and barriers; small, since it is slow)
#   STEPS="unit|apps.*"      a regular expression: which steps run after the build (all)
#   BENCH="arguments"        for bench/cpu_free_stencil/run.py (--short)
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

out=${OUT:-build/gpu}
mkdir -p "$out" build
out=$(cd "$out" && pwd)
log=$out/gpu.log
: >"$log"

# Machines are shared: NVLink multicast can disturb others, so libraries that would use it by themselves must not.
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1
export STARLING_TEST_MACHINE=cuda

python=$(tools/setup --or-system) || exit 1
scripts=$("$python" -c 'import sysconfig; print(sysconfig.get_path("scripts"))')
export PATH="$scripts:$PATH:/usr/local/cuda/bin" PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}"

bin=build/cuda/bin
read -ra memcheck <<<"${MEMCHECK:-$bin/unit --source-file=*/put_signal_kernels.cpp,*/sync_kernels.cpp}"
read -ra bench <<<"${BENCH:---short --out $out/bench/stencil}"

always="gpus|configure|build|machine"
passed=0
failed=0
rows=()

# step NAME SECONDS COMMAND...: runs it with a time limit, keeps its output, and goes on whatever happens.
step() {
  local name=$1 limit=$2 start=$SECONDS verdict=OK status=0 counted
  shift 2
  [[ $name =~ ^($always|${STEPS:-.*})$ ]] || return 0
  echo "== $name" | tee -a "$log"
  timeout --kill-after=10 "$limit" "$@" >build/step.log 2>&1 || status=$?
  cat build/step.log >>"$log"
  counted=$(grep -hoE '^(PASS|FAIL) .*' build/step.log | paste -sd ';')  # of steps that judge parts of their own
  [ -n "$counted" ] ||
    counted=$(grep -hoE 'test cases: .*(passed|failed)|[0-9]+ (passed|failed).* in [0-9.]+s' build/step.log | tail -n 1)
  if [ $status -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    verdict="FAILED ($([ $status -eq 124 ] && echo "no end after $limit s" || echo "exit status $status"))"
    tail -n 60 build/step.log | cut -c1-300 | sed 's/^/    /'
  fi
  rows+=("$(printf '  %-12s %5d s   %s  %s' "$name" $((SECONDS - start)) "$verdict" "$counted")")
  return $status
}

skip() { rows+=("$(printf '  %-12s %5s     skipped: %s' "$1" - "$2")"); }

finish() {
  echo
  echo "Summary (log: $log)"
  printf '%s\n' "${rows[@]}"
  echo "$passed passed, $failed failed"
  [ $failed -eq 0 ]
  exit
}

step gpus 30 nvidia-smi || finish
step configure 120 cmake --preset cuda -DPython_EXECUTABLE="$python" -DSTARLING_PYTHON_INPLACE=ON || finish
step build 480 cmake --build build/cuda --parallel "$(nproc)" || finish
step doctor 60 "$python" -m starling doctor
# Programs of tests skip what needs more PEs than there are; no GPU at all is a failure.
step machine 60 "$python" -c 'from starling import machine; print(machine.cuda())' || finish
gpus=$("$python" -c "from starling._native import native; print(native.probe_cuda().devices)")
each=$(((4 + gpus - 1) / gpus))  # PEs of a GPU for four in all
for suite in unit protocol misuse apps; do
  if [ -x "$bin/$suite" ]; then step $suite 300 "$bin/$suite"; else skip $suite "no such tests"; fi
done
if [ "$each" -gt 1 ]; then
  for suite in unit protocol misuse apps; do
    if [ -x "$bin/$suite" ]; then step "$suite-x$each" 400 env STARLING_PES_PER_GPU=$each "$bin/$suite"; fi
  done
  step plain 120 env STARLING_PES_PER_GPU=$each STARLING_GPU_SHARING=plain "$bin/unit" \
    '--source-file=*/together_kernels.cpp,*/residency_kernels.cpp,*/resident_launch_kernels.cpp,*/run_kernels.cpp'
  step queue 120 env STARLING_PES_PER_GPU=$each CUDA_DEVICE_MAX_CONNECTIONS=1 STARLING_TEST_UNANSWERED=1 \
    bash -c "$bin/unit '--source-file=*/together_kernels.cpp' || true"  # told, not judged: some get by with one queue
  step hosts 240 env STARLING_PES_PER_GPU=$each STARLING_HOSTS=2 "$bin/unit" \
    '--source-file=*/unit/device/*,*/unit/network/*,*/unit/shmem/*'
  step proxy 120 env STARLING_PES_PER_GPU=$each STARLING_CARD=proxy "$bin/unit" '--source-file=*/cards_kernels.cpp'
  step stalls 300 tools/gpu_stalls.sh "$bin/unit" "$each"
  step refused 60 env CUDA_LAUNCH_BLOCKING=1 STARLING_PES_PER_GPU=$each "$python" -c 'from starling import errors, machine
said = "the machine was made"
try:
    machine.cuda()
except errors.Error as e:
    said = f"{type(e).__name__}: {e}"
held = said.startswith("LaunchError") and "CUDA_LAUNCH_BLOCKING=1" in said
print("PASS" if held else "FAIL", f"refused: {int(held)} of 1 machines; {said}")
raise SystemExit(not held)'
fi
if [ -x "$bin/apps" ]; then
  step long-run 120 env STARLING_LONG_STEPS=1000000 "$bin/apps" "--source-file=*/stencil_long_run.cpp"
fi
if [ -d python/tests ]; then
  step python 600 "$python" -m pytest -q --color=no python/tests
  if [ "$each" -gt 1 ]; then
    step "python-x$each" 600 env STARLING_PES_PER_GPU=$each "$python" -m pytest -q --color=no python/tests
  fi
fi
if command -v compute-sanitizer >/dev/null; then
  step memcheck 300 compute-sanitizer --tool memcheck --error-exitcode 1 "${memcheck[@]}"
else
  skip memcheck "no compute-sanitizer"
fi
# What GPUs and the sanitizer make of programs that check mode finds wrong within a block; slow, so only when asked for.
if [[ wrong =~ ^(${STEPS:-none})$ ]]; then
  step wrong 3000 bash -c "cmake --build build/cuda --target wrong_on_gpus --parallel $(nproc) &&
    '$python' bench/check/on_gpus.py --out '$out/bench/wrong_on_gpus.json'"
fi
step calls 240 "$python" bench/run.py --out "$out/bench"
if [ "$each" -gt 1 ]; then step sharing 300 "$python" bench/sharing/run.py --short --out "$out/bench/sharing"; fi
step shmem 120 env STARLING_PES_PER_GPU="$each" "$python" bench/shmem/run.py --out "$out/bench/shmem"
step gio 120 "$python" bench/gio/run.py --out "$out/bench/gio"
step regions 300 env STARLING_PES_PER_GPU="$each" "$python" bench/proact/run.py --short --seconds 280 \
  --out "$out/bench/proact"
for figure in 2 4 6 8 9 table2 stores; do
  step "regions-$figure" 120 env STARLING_PES_PER_GPU="$each" "$python" bench/proact/run.py --figure "$figure" --short \
    --seconds 100 --out "$out/bench/proact"
done
step stencil 480 "$python" bench/cpu_free_stencil/run.py "${bench[@]}"
finish
