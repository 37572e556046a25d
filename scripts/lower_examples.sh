#!/usr/bin/env bash
# Lowers every example for the chips that its line `// Compiles for: gfx950,
# gfx1250` names, or to loops where that says `none`.
#
#   scripts/lower_examples.sh BIN_FOLDER OUTPUT_FOLDER

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

(($# == 2)) || fail "usage: lower_examples.sh BIN_FOLDER OUTPUT_FOLDER"
bin=$1
output=$2

for example in "$project_dir"/examples/*.mlir; do
  name=$(basename "$example" .mlir)
  chips=$(sed -n 's|^// Compiles for: *||p' "$example" | tr -d ' .')
  [[ -n $chips ]] || fail "$name.mlir has no line \"// Compiles for: \""
  if [[ $chips == none ]]; then
    say "$name lowers to loops only, so far"
    "$bin/pa-opt" "$example" --pa-lower-to-loops -o /dev/null
  else
    say "$name for ${chips//,/, }"
    "$bin/pa-compile" "$example" --chip="$chips" --report -o "$output/$name"
  fi
done
