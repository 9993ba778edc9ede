#!/usr/bin/env bash
# Shows that each test of work that waits for other PEs stalls where launches run one after the other, as they do with
# CUDA_LAUNCH_BLOCKING=1: 0 when every one of them fails. A machine of PEs that share a GPU finds that out and is not
# made; STARLING_TEST_UNANSWERED makes it all the same.
#
#   gpu_stalls.sh PATH_OF_UNIT PES_PER_GPU
set -uo pipefail
unit=$1
export STARLING_TEST_MACHINE=cuda STARLING_PES_PER_GPU=$2 CUDA_LAUNCH_BLOCKING=1 STARLING_TEST_UNANSWERED=1
said=$("$unit" --source-file='*/together_kernels.cpp' 2>&1)
echo "$said"
if grep -qE 'test cases: +[0-9]+ \| +0 passed' <<<"$said"; then exit 0; fi
echo "some passed where all launches were waited for: they do not need PEs to run together"
exit 1
