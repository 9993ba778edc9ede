#!/usr/bin/env bash
# What becomes of work that waits for other PEs where launches run one after the other, as with CUDA_LAUNCH_BLOCKING=1:
#
#   refused   the machine of PEs that share a GPU finds it out and is not made: each test fails, and says so
#   stalled   where the machine is made all the same (STARLING_TEST_UNANSWERED), each test fails: it needs PEs to run
#             together
#
# Each is a line `PASS` or `FAIL` with its counts; 0 when both pass.
#
#   gpu_stalls.sh PATH_OF_UNIT PES_PER_GPU
set -uo pipefail
unit=$1
export STARLING_TEST_MACHINE=cuda STARLING_PES_PER_GPU=$2 CUDA_LAUNCH_BLOCKING=1
verdicts=()
failed=0

# judged NAME TEXT OUTPUT: PASS where there were tests, all failed, and each said TEXT (empty: whatever it says).
judged() {
  local name=$1 text=$2 said=$3 counts cases=0 passed=0 with_text=0 verdict=FAIL
  counts=$(grep -oE 'test cases: +[0-9]+ \| +[0-9]+ passed' <<<"$said" | tail -n 1)
  if [ -n "$counts" ]; then read -r cases passed < <(grep -oE '[0-9]+' <<<"$counts" | tr '\n' ' '; echo); fi
  with_text=$(grep -cF -- "$text" <<<"$said")
  if [ "$cases" -gt 0 ] && [ "$passed" -eq 0 ] && { [ -z "$text" ] || [ "$with_text" -ge "$cases" ]; }; then
    verdict=PASS
  else
    failed=1
  fi
  local why="$((cases - passed)) of $cases tests failed as they have to"
  [ -n "$counts" ] || why="no tests were counted: the program ended before"
  [ -z "$text" ] || why+=", $with_text said $text"
  verdicts+=("$verdict $name: $why")
}

said=$("$unit" --source-file='*/together_kernels.cpp' 2>&1)
echo "$said"
judged refused CUDA_LAUNCH_BLOCKING=1 "$said"
said=$(STARLING_TEST_UNANSWERED=1 "$unit" --source-file='*/together_kernels.cpp' 2>&1)
echo "$said"
judged stalled "" "$said"

printf '%s\n' "${verdicts[@]}"
exit $failed
