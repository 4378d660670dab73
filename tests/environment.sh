# What tests/run and tests/frameworks/run share: an empty virtual environment, the wheel, and a tree without the package.
#
# Sourced.  Sets root, scratch (removed at exit), python and bin.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python=${PYTHON:-$(command -v python3.11 || command -v python3)}
bin=$scratch/venv/bin

say() { printf '\n== %s\n' "$*"; }

# make_environment PIP_ARGUMENT...: the virtual environment, with what the arguments name.
make_environment() {
    say "virtual environment, $("$python" --version)"
    "$python" -m venv "$scratch/venv"
    "$bin/pip" install -q build "$@"
}

# install_wheel PIP_ARGUMENT...: builds the wheel and installs it, the arguments being pip's own.
install_wheel() {
    say "wheel"
    "$bin/python" -m build -q --wheel --outdir "$scratch/dist" "$root"
    "$bin/pip" install -q "$@" "$(echo "$scratch"/dist/*.whl)[dev]"
}

# enter_tree: from here on the tree without the package itself, so that nothing can import the source by accident.
enter_tree() {
    mkdir "$scratch/tree"
    (cd "$root" && tar -c --exclude=./.git --exclude=./loaderdoctor --exclude=./report_templates \
        --exclude=./.venv* --exclude=./loaderdoctor-runs --exclude=__pycache__ --exclude='./.*_cache' .) |
        tar -x -C "$scratch/tree"
    cd "$scratch/tree"
    "$bin/python" -I -c "import loaderdoctor, sys; sys.exit('site-packages' not in loaderdoctor.__file__)" ||
        { echo "the tests would not see the wheel" >&2; exit 1; }
}
