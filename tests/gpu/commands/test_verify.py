"""The command `gpu verify`: what it says, with and without torch."""

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from draftproof.theory.drafts.chain import Chain


def test_without_torch_one_line_says_how_to_install():
    program = (
        "import sys; sys.modules['torch'] = None; sys.argv = ['draftproof', 'gpu', 'verify'];"
        "from draftproof import main; main()"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert (
        ran.stderr == "draftproof: gpu needs torch, which is not installed: pip install 'draftproof[gpu]'\n"
    )


@pytest.mark.parametrize("command", [["gpu", "validate"], ["gpu", "generate"], ["check"]])
def test_without_flint_one_line_says_how_to_install(command):
    program = (
        f"import sys; sys.modules['flint'] = None; sys.argv = ['draftproof', *{command}];"
        "from draftproof import main; main()"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    said = "draftproof: python-flint is not installed: pip install python-flint\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", said)


def test_help_lists_the_folder(run):
    status, out, _ = run("--help")
    assert status == 0
    assert "verify" in out


def test_an_unknown_command_is_one_line(run):
    status, out, err = run("nonsense")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1


class TestWithTorch:
    @pytest.fixture(autouse=True)
    def few(self, monkeypatch):
        pytest.importorskip("torch")
        from draftproof.gpu.checks.against_exact import large
        from draftproof.gpu.checks.against_exact import run as whole
        from draftproof.simulators.instances.scenarios import Scenarios

        monkeypatch.setattr(large, "KINDS", ("random",))
        monkeypatch.setattr(large, "DRAFTS", {"chain": large.DRAFTS["chain"]})
        monkeypatch.setattr("draftproof.gpu.kernels.NAMES", ("block",))
        monkeypatch.setattr(whole, "FEW", {"chain": (Chain(1), 2)})
        monkeypatch.setattr(
            "draftproof.gpu.checks.against_exact.run.standard", lambda: [Scenarios(Chain(2), 2)]
        )

    def test_json(self, run):
        status, out, err = run("verify", "--vocab", "64", "--json", "--device", "cpu")
        answer = json.loads(out)
        assert (status, err, answer["ok"]) == (0, "", True)
        assert answer.keys() == {"device", "ok", "complete", "noise", "large", "kernels", "seconds"}
        assert {each["verifier"] for each in answer["noise"]} >= {"token", "block"}
        assert all(each["wrong"] == 0 < each["rows"] for each in answer["noise"])

    def test_table(self, run):
        from torch import cuda

        status, out, _ = run("verify", "--vocab", "64", "--device", "cpu")
        assert status == 0
        assert "every decision is the exact engine's" in out
        assert "traversal" in out
        assert ("Kernels compared" in out) is (bool(find_spec("triton")) and not cuda.is_available())

    def test_without_triton_a_line_says_that_kernels_are_skipped(self, run, monkeypatch):
        monkeypatch.setattr("draftproof.gpu.kernels.AVAILABLE", False)
        status, out, _ = run("verify", "--vocab", "64", "--device", "cpu")
        assert status == 0
        assert "kernels skipped: Triton is not installed" in out

    def test_a_wrong_kernel_is_status_1(self, run, monkeypatch):
        pytest.importorskip("triton")
        from draftproof.gpu import kernels

        def swapped(name, *given, right=kernels.verify):
            return right({"block": "token"}.get(name, name), *given)

        monkeypatch.setattr(kernels, "NAMES", ("block", "token"))
        monkeypatch.setattr(kernels, "verify", swapped)
        monkeypatch.setattr("draftproof.gpu.checks.against_exact.run.FEW", {"chain": (Chain(2), 2)})
        status, out, _ = run("verify", "--vocab", "64")  # kernels run where the GPU is
        assert status == 1
        assert "NOT all is as in the exact engine" in out

    def test_a_wrong_verifier_is_status_1(self, run, monkeypatch):
        from dataclasses import replace

        from draftproof.gpu.checks.against_exact import noise
        from draftproof.gpu.verify import chains

        monkeypatch.setattr("draftproof.gpu.kernels.NAMES", ())
        wrong = replace(noise.VERIFIERS["block"], rates=chains.token_rates)
        monkeypatch.setitem(noise.VERIFIERS, "block", wrong)
        status, out, _ = run("verify", "--vocab", "64", "--device", "cpu")
        assert status == 1
        assert "NOT all is as in the exact engine" in out

    def test_interrupted_prints_what_was_compared(self, run, monkeypatch):
        from draftproof.gpu.checks.against_exact import run as whole

        def stopped(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(whole, "_noise", stopped)
        monkeypatch.setattr("draftproof.gpu.kernels.NAMES", ())
        status, out, err = run("verify", "--vocab", "64", "--json", "--device", "cpu")
        answer = json.loads(out)
        assert (status, answer["complete"], answer["ok"]) == (130, False, True)
        assert answer["large"]
        assert "interrupted" in err
        status, out, _ = run("verify", "--vocab", "64", "--device", "cpu")
        assert (status, "traversal" in out) == (130, True)

    def test_out_of_memory_is_one_line(self, run, monkeypatch):
        import torch

        def too_much(*_, **__):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 8 GiB")

        monkeypatch.setattr("draftproof.gpu.checks.against_exact.run.closeness", too_much)
        status, out, err = run("verify", "--json", "--device", "cpu")
        assert (status, out) == (2, "")
        assert err == "draftproof: out of memory; take a smaller --vocab\n"

    @pytest.mark.parametrize("device", ["cuda:99", "nonsense"])
    def test_a_device_that_is_not_there_is_one_line(self, run, device):
        status, out, err = run("verify", "--device", device)
        assert (status, out) == (2, "")
        assert err.startswith(f"draftproof: --device {device}")
        assert err.count("\n") == 1
