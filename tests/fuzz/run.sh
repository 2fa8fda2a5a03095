#!/usr/bin/env bash
# Fuzz each target for some seconds under ASan and UBSan: tests/fuzz/run.sh [SECONDS [TARGET...]]
# Needs clang with its runtime (Debian: clang libclang-rt-dev).  A finding is left in the folder
# that CORTEXT_FUZZ_DIR names, or a temporary one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1:-30}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(text fold statement segment store)
folder=${CORTEXT_FUZZ_DIR:-$(mktemp -d)}

for target in "${targets[@]}"; do
    echo "--- fuzz $target for $seconds s, in $folder"
    mkdir -p "$folder/$target"
    sources=(csrc/base/*.c)
    case $target in
    text) sources+=(csrc/encoder/ct_wordpiece_text.c csrc/text/*.c) ;;
    fold) sources+=(csrc/recall/ct_fold.c csrc/recall/ct_question.c) ;;
    statement) sources+=(csrc/recall/ct_statement.c csrc/recall/ct_statement_pair.c csrc/recall/ct_lexical.c) ;;
    segment) sources+=(csrc/gate/ct_segmenter.c csrc/text/*.c) ;;
    store) sources+=(csrc/store/*.c csrc/text/*.c csrc/directive/*.c) ;;
    esac
    clang -g -O1 -std=c11 -D_GNU_SOURCE -Icsrc -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=all "tests/fuzz/fuzz_$target.c" "${sources[@]}" \
        -lsqlite3 -lpthread -lm -o "$folder/fuzz_$target"
    "$folder/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$folder/$target-" "$folder/$target" 2>&1 | tail -n 12
done
