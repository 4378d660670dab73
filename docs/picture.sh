#!/usr/bin/env bash
# Makes the README's picture: the first page of the report on the demo, run here and now on a quiet machine.
set -euo pipefail
docs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
# Started beside the script, so that the picture shows its name and not where it is installed.
cd "$(python -c 'from loaderdoctor.demo import SCRIPT; print(SCRIPT.parent)')"
loaderdoctor demo -o "$run/demo"
pdftoppm -r 80 -f 1 -l 1 -singlefile -png "$run/demo/report.pdf" "$docs/report"
