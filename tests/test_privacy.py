"""Secrets on command lines: by the name that they are given under, and by their own form; and what stays readable."""

import pytest

from loaderdoctor.privacy import MASK, masked, masked_text
from loaderdoctor.report import privacy

SECRETS = ("abc123", "hunter2", "k1", "k2", "eyJhbGciOi", ".abc", "u:p", "p/w", "EXAMPLE", "AIzaSy", "s3cret", "p@ss")
LEAKS = {  # arguments as they are given -> as they are kept
    "a shell's variable": (["bash", "-c", "cd . && MY_API_TOKEN=abc123 python train.py"], "MY_API_TOKEN=*** python"),
    "a shell's quotes": (["bash", "-c", "TOKEN='abc123 s3cret' python t.py --lr 1"], "TOKEN=***"),
    "a shell's option": (["sh", "-c", "python t.py --hf-token abc123 --lr 1"], "--hf-token *** --lr 1"),
    "a shell's quoted option": (["sh", "-c", "t.py --password 'my s3cret' --lr 1"], "--password '***' --lr 1"),
    "a shell's JSON": (["sh", "-c", r'curl -d "{\"token\": \"abc123\"}" x'], "token"),
    "a shell's override": (["sh", "-c", "t.py --set hf.token abc123 --lr 1"], "hf.token *** --lr 1"),
    "pass": (["train.py", "--db-pass", "hunter2"], "--db-pass ***"),
    "pwd": (["train.py", "--pwd", "hunter2"], "--pwd ***"),
    "pwd=": (["train.py", "--pwd=hunter2"], "--pwd=***"),
    "a blank inside": (["train.py", "--password=my hunter2"], "--password=***"),
    "bearer": (["train.py", "--authorization", "Bearer eyJhbGciOi.abc.def"], "--authorization ***"),
    "api keys": (["train.py", "--api-keys", "k1"], "--api-keys ***"),
    "several": (["train.py", "--api-keys", "k1", "k2", "--lr", "1"], "--api-keys *** *** --lr 1"),
    "a list": (["train.py", "--tokens=k1,k2"], "--tokens=***"),
    "a header": (["train.py", "--header", "Authorization: Bearer eyJhbGciOi.abc.def"], "Authorization:"),
    "basic": (["curl", "-H", "authorization: Basic dXNlcjpzM2NyZXQ="], "authorization:"),
    "an odd header": (["curl", "-H", "X-Api-Key: abc123"], "X-Api-Key: ***"),
    "bearer alone": (["train.py", "--h", "Bearer abc123-abc123"], "Bearer ***"),
    "JSON": (["train.py", "--config", '{"api_key": "abc123", "lr": 1}'], '{"api_key": "***", "lr": 1}'),
    "JSON lists": (["train.py", "--config", '{"tokens": ["abc123", "k2"], "lr": 1}'], '"tokens": ***'),
    "JSON, tight": (["train.py", '{"a":{"token":"abc123"},"lr":1}'], '"token":"***"'),
    "YAML": (["train.py", "--config", "lr: 1\npassword: hunter2\nsize: 3"], "lr: 1\npassword: ***\nsize: 3"),
    "Python": (["--kwargs", "{'token': 'abc123', 'lr': 1}"], "{'token': '***', 'lr': 1}"),
    "flow YAML": (["train.py", "hub={token:abc123,lr:1}"], "{token:***,lr:1}"),
    "brackets": (["train.py", "model[token]=abc123"], "model[token]=***"),
    "hydra": (["train.py", "+logger.wandb.api_key=abc123"], "+logger.wandb.api_key=***"),
    "a password with a slash": (["train.py", "--dsn=postgresql://u:p/w@db/x"], "--dsn=postgresql://***@db/x"),
    "a password with an at": (["train.py", "redis://u:p@ss@db:6379/0"], "redis://***@db:6379/0"),
    "a password with marks": (["train.py", "mysql://u:p/w?#s3cret@db/x"], "mysql://***@db/x"),
    "an address's user": (["git", "clone", "https://s3cret@host/x.git"], "https://***@host/x.git"),
    "signed": (["--url", "https://x/y?X-Amz-Signature=abc123&X-Amz-Credential=k1&v=2"], "&v=2"),
    "access_token": (["--url", "https://x/y#access_token=abc123&v=2"], "#access_token=***&v=2"),
    "AWS": (["train.py", "--aws", "ASIAIOSFODNN7EXAMPLE"], "--aws ***"),
    "Google": (["train.py", "--g", "AIzaSyA-1234567890abcdefghijklmnopqrstu"], "--g ***"),
    "a value like an option": (["train.py", "--hf-token", "-abc123"], "--hf-token ***"),
    "wandb": (["train.py", "--wandb_key", "abc123"], "--wandb_key ***"),
    "-k": (["train.py", "-k", "hunter2"], "-k ***"),
    "-p": (["sshpass", "-p", "hunter2", "ssh", "x"], "-p *** ssh x"),
    "two words": (["train.py", "--client-secret", "abc123", "--lr", "1"], "--client-secret *** --lr 1"),
    "jwt": (["--jwt", "abc123.b.c"], "--jwt ***"),
    "creds": (["--creds", "u:p"], "--creds ***"),
    "docker": (["docker", "run", "-e", "TOKEN=abc123", "img"], "-e TOKEN=*** img"),
    "docker, tight": (["docker", "run", "-eTOKEN=abc123", "img"], "-eTOKEN=*** img"),
    "env": (["env", "PGPASS=abc123", "python"], "env PGPASS=*** python"),
    "a colon": (["--token:abc123"], "--token:***"),
    "--set": (["--set", "hf.token", "abc123"], "--set hf.token ***"),
    "SAS": (["--sas", "sv=2020&sig=abc123"], "--sas ***"),
    "SAS alone": (["--x", "sv=2020&sig=abc123&se=1"], "sv=2020&sig=***&se=1"),
    "camels": (["train.py", "--apiKey", "abc123", "--dbPassword=hunter2"], "--apiKey *** --dbPassword=***"),
    "connection string": (["DefaultEndpointsProtocol=https;AccountKey=abc123==;X=1"], ";AccountKey=***;X=1"),
}  # fmt: skip

ISSUED = (
    "AKIAIOSFODNN7EXAMPLE", "AIzaSyA-1234567890abcdefghijklmnopqrstu", "ya29.abcdefghijklmnop", "ghp_abcdefghijklmnop1234",
    "github_pat_11ABCDEFG0abcdefgh", "hf_abcdefghijklmnopqrst", "sk-proj-abcdefghijklmnop", "sk_live_abcdefghijklmnop",
    "rk_test_abcdefghijklmnop", "xoxb-1234567890-abcdef", "glpat-abcdefghijklmnopqrst", "npm_abcdefghijklmnopqrstuvwxyz",
    "pypi-AgEIcHlwaS5vcmcabcdef", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh", "nvapi-abcdefghijklmnop",
)  # fmt: skip

READABLE = (
    "train.py --lr 0.1", "--tokens 4096", "--max-tokens 512", "--max_tokens=12k", "--key-frames 3", "--tokenizer gpt2 --keyframes 3",
    "--batch-size 32", "--password-file /run/pw", "--keys a b", "--image-key jpg", "--pad-token <pad>", "--author ada",
    "-k 5", "--use-auth-token true", "-m torch.distributed.run --nproc-per-node 2 train.py lr=0.1 model=big",
    "--pattern a*", "--url https://host:8080/path?page=2", "--passes 3 --compass x --bypass y", "monkey=1", "--token-dropout 0.1",
    "--auth --lr 1", "--x={a:1,b:2}", r"C:\data\x.py", "--revision 0123456789abcdef0123456789abcdef01234567",
    "see https://host/page: it is fine", "-p 8", "s3://bucket/keys/x.parquet", "--ckpt sk-net.pt", "--save-password false", "a@b.c",
)  # fmt: skip


@pytest.mark.parametrize("case", LEAKS)
def test_what_is_given_in_confidence_is_masked(case):
    given, kept = LEAKS[case]
    words = masked(given)
    assert kept in " ".join(words)
    assert MASK in " ".join(words)
    assert [secret for secret in SECRETS if any(secret in word for word in words)] == []
    assert len(words) == len(given)


@pytest.mark.parametrize("secret", ISSUED)
@pytest.mark.parametrize("around", ["{}", "--x={}", "--x '{}'", "see {}, there", "https://host/x/{}/y", '("{}")'])
def test_what_its_issuer_marks_is_masked_wherever_it_stands(secret, around):
    assert secret not in masked_text(around.format(secret))
    assert secret not in "".join(masked(["x", around.format(secret)]))


def test_a_private_key_is_masked_to_its_end_and_keeps_its_lines():
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----"
    assert masked(["--x", f"a\n{block}\nb"])[1].split() == ["a", MASK, "b"]
    assert masked_text(f"a\n{block}\nb").count("\n") == 5
    assert "MIIE" not in masked_text(block[:-40])


@pytest.mark.parametrize("given", READABLE)
def test_ordinary_arguments_stay_readable(given):
    assert masked(given.split(" ")) == given.split(" ")


@pytest.mark.parametrize("case", LEAKS)
def test_masking_what_is_masked_changes_nothing(case):
    once = masked(LEAKS[case][0])
    assert masked(once) == once


@pytest.mark.parametrize(
    "word", ["", "-", "--", "=", ":", "'", '"' * 5000, "\\" * 5000, "a=" * 5000, "[" * 5000, "\x00"]
)
def test_odd_words_take_no_time(word):
    assert len(masked(["x", word, f"a b {word}"])) == 3


def test_a_report_masks_what_a_run_holds():
    assert privacy.masked is masked
    assert privacy.clean("read from s3://u:s3cret@host/x", "/home/ada") == f"read from s3://{MASK}@host/x"
