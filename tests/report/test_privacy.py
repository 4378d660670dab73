"""What a report must not carry into a ticket: paths of people, names of machines."""

import pytest

from loaderdoctor.report import privacy

FOLDER = "/home/ada/leaves"


@pytest.mark.parametrize(
    ("path", "short"),
    [
        (f"{FOLDER}/train.py", "train.py"),
        (f"{FOLDER}/sub folder/train.py", "sub folder/train.py"),
        (f"{FOLDER}-2/train.py", "~/leaves-2/train.py"),
        ("/home/ada/other.py", "~/other.py"),
        ("/root/x.py", "~/x.py"),
        ("/rooted/x.py", "/rooted/x.py"),
        ("/Users/ada/x.py", "~/x.py"),
        ("/data/home/x.py", "/data/home/x.py"),
        ("train.py", "train.py"),
    ],
)
def test_paths(path, short):
    assert privacy.short_path(path, FOLDER) == short


def test_code_of_installed_packages_starts_at_the_package():
    assert privacy.code_path("/home/ada/venv/lib/python3.11/site-packages/PIL/Image.py", FOLDER) == "PIL/Image.py"
    assert privacy.code_path(f"{FOLDER}/photos.py", FOLDER) == "photos.py"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"{FOLDER}/train.py opens /home/ada/data/x.jpg, often", "train.py opens ~/data/x.jpg, often"),
        ("nothing to hide at 3/4 of the time", "nothing to hide at 3/4 of the time"),
    ],
)
def test_paths_inside_sentences(text, clean):
    assert privacy.clean(text, FOLDER) == clean


def test_a_run_in_the_root_folder_keeps_its_slashes():
    assert privacy.clean("/data/x and a/b", "/") == "/data/x and a/b"


def test_facts_name_neither_people_nor_machines():
    facts = {"hostname": "gpu-17", "user": "ada", "os": "Linux", "disks": [{"mount": "/home/ada/data", "node": "x"}]}
    assert privacy.clean_facts(facts, FOLDER) == {"os": "Linux", "disks": [{"mount": "~/data"}]}
