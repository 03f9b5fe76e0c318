# SPDX-License-Identifier: BSD-2-Clause
"""options_test.py SOURCE: checks that the programs in TAPER_BIN have the commands and options that pages mention in backquotes and in
blocks that are not run, such as "taper run --threads 2" and "bench --profile". tests/docs/pages_test.py runs the other blocks."""
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))
import check_mentions  # noqa: E402
import pages  # noqa: E402

BIN = os.environ["TAPER_BIN"]
passed = failed = 0


def said_by(program, *arguments):
    done = subprocess.run([os.path.join(BIN, program), *arguments], capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else ""


VERBS = {verb: said_by("taper", "help", verb) for verb in ("", *re.findall(r"^  (\w+) ", said_by("taper", "help"), re.M)) if verb}
BENCHMARK = said_by("speed_benchmark_torch", "--help")


def words_of(command):
    """Returns the words of a command, beginning with the program. Variables, folders, and programs that run the program are
    removed."""
    words = [word.rstrip(",") for word in check_mentions.words_of(command)]
    while words and (re.match(r"\w+=", words[0]) or words[0] in ("adb", "shell", "taskset", "-c", "1")):
        words = words[1:]
    return [os.path.basename(words[0]), *words[1:]] if words else []


def problem(command):
    """Returns an error of the command, "" if it has none, or None if it is not a command of these programs."""
    words = words_of(command)
    if words[:1] == ["speed_benchmark_torch"]:
        lost = [word for word in words[1:] if word.startswith("--") and not re.search(rf"^\s*{re.match('--[^=]*', word).group()}:", BENCHMARK, re.M)]
        return f"no option {' '.join(lost)}" if lost else ""
    if words[:1] == ["taper"]:
        words = words[1:]
    elif not any(word.startswith("--") for word in words[1:]):
        return None # a command's name alone, such as "run", is a word of prose; "run --json" is a command
    if not words or words[0] in ("help", "version") or not re.fullmatch(r"[a-z]+", words[0]) or (words[0] not in VERBS and not command.startswith("taper ")):
        return None
    if words[0] not in VERBS:
        return f"no command {words[0]}"
    options = [re.match(r"--?[\w-]+", word).group() for word in words[1:] if re.match(r"--?[a-z]", word)]
    lost = [option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", VERBS[words[0]])]
    return f"taper {words[0]} has no option {' '.join(lost)}" if lost else ""


def expect(command, wanted):
    global passed, failed
    right = problem(command) == wanted
    passed, failed = passed + right, failed + (not right)
    if not right:
        print(f"FAILED {command}: {problem(command)!r}, not {wanted!r}")


expect("taper run model.pt --threads 2 -i x.npy", "")
expect("bench --profile", "")
expect("taper runs model.pt", "no command runs")
expect("taper run --thread 2", "taper run has no option --thread")
expect("inspect --devices", "taper inspect has no option --devices")
expect("speed_benchmark_torch --model=m.pt --iters=3", "no option --iters=3")
expect("run", None)
expect("gradle --offline", None)
count = 0
for page in pages.pages(SOURCE):
    spans, commands, *_ = check_mentions.mentions(pages.read(SOURCE, page))
    for line, command in spans + commands:
        wrong = problem(command) if page != "CHANGELOG.md" else None
        count += wrong is not None
        passed, failed = passed + (wrong == ""), failed + bool(wrong)
        if wrong:
            print(f"FAILED {page}:{line}: `{command}`: {wrong}")
if count < 50:
    print(f"FAILED {count} commands are found")
    failed += 1
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
