"""The template as AWS gets it: what SAM makes of it, which cfn-lint does not see when it reads the template itself."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.template import ROOT

TRANSLATOR = ROOT / ".venvs" / "aws-emulator" / "bin" / "python"
TRANSLATE = """
import json, sys
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

print(json.dumps(Translator({}, Parser()).translate(yaml_parse(sys.stdin.read()), {})))
"""
ENVIRONMENT = {"PATH": os.environ["PATH"], "AWS_DEFAULT_REGION": "eu-central-1"}


def run(*command: str | Path, text: str = "") -> str:
    done = subprocess.run(command, input=text, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_sam_makes_of_the_template_has_no_error(tmp_path: Path) -> None:
    assert TRANSLATOR.exists(), "No translator under .venvs/aws-emulator: run `make setup`."
    packaged = (ROOT / "template.yaml").read_text().replace("CodeUri: functions/", "CodeUri: s3://artifacts/package")
    made = tmp_path / "made.json"
    made.write_text(run(TRANSLATOR, "-c", TRANSLATE, text=packaged))
    run(Path(sys.executable).with_name("cfn-lint"), "--non-zero-exit-code", "error", made)
