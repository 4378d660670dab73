#!/usr/bin/env bash
# Makes the README's picture: the first page of the report on the demo, run here and now.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
loaderdoctor demo -o "$run/demo"
pdftoppm -r 80 -f 1 -l 1 -singlefile -png "$run/demo/report.pdf" report
