#!/usr/bin/env python3
"""White space, final newlines, import order, line lengths, package comments, ends of comments and names of documented
parameters of the files that git knows.

usage: text.py check | format

check prints what is wrong and exits with 1; format mends what can be mended without a decision. Lines are measured in
all files, of whatever kind; those that programs have written are left out.
"""
import os
import re
import subprocess
import sys

LONGEST = 120
SOURCES = ("*.java", "*.c", "*.h", "*.S", "*.sh", "*.py", "*.cmake", "*.md", "*.xml", "CMakeLists.txt", "udckpt")
# Results are what programs have printed, all but their page.
EXCEPT = (":!results", ":!*/src/test/fuzz/*/*", ":!*/src/test/resources/*", ":!*.zst")
PAGE_OF_RESULTS = "results/README.md"
DOCUMENTED = re.compile(r"/\*\*(.*?)\*/(?:\s*@\w+(?:\([^)]*\))?)*([^{;]*)", re.S)
STRAY_END = re.compile(r"(?:^|\s)(?:/ +\*/|\*/ +\*/)", re.M)
KERNEL_FILE = re.compile(r'"/(proc|sys)/')
READ_IN_PARTS = re.compile(r"\bFiles\.(readString|readAllLines|readAllBytes|lines)\(")
IMPORT = re.compile(r"^import (static )?([\w.*]+);$")


def files(*patterns):
    command = ["git", "ls-files", "-z", "--", *patterns, *EXCEPT]
    listed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return [name for name in listed.decode().split("\0") if name and os.path.isfile(name)]


def formatted(name, text):
    """The same text as it should be."""
    if not name.endswith(".md"):  # two spaces at a line's end break it in Markdown
        text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    text = text.rstrip("\n") + "\n" if text.strip() else text
    return imports(text) if name.endswith(".java") else text


def imports(text):
    """Static imports first, then the others, each in the order of their characters, with a line between."""
    lines = text.split("\n")
    at = [i for i, line in enumerate(lines) if IMPORT.match(line)]
    if not at:
        return text
    block = lines[at[0]:at[-1] + 1]
    if any(line and not IMPORT.match(line) for line in block):
        return text  # a comment stands between them
    named = sorted({line for line in block if line}, key=lambda line: line.rstrip(";"))
    static = [line for line in named if line.startswith("import static ")]
    others = [line for line in named if line not in static]
    lines[at[0]:at[-1] + 1] = static + ([""] if static and others else []) + others
    return "\n".join(lines)


def is_long(name, text):
    """Whether a line is too long; one that is a single word (a link, say) and a row of a table cannot be broken."""
    page = name.endswith(".md")
    return any(len(line) > LONGEST and " " in line.strip()
               and not (page and (line.startswith("|") or "](http" in line)) for line in text.split("\n"))


def strange_parameters(text):
    """Parameters that a comment documents and the declaration below it does not have: they were renamed."""
    for comment, declaration in DOCUMENTED.findall(text):
        for name in re.findall(r"@param\s+([A-Za-z_]\w*)", comment):
            if not re.search(rf"\b{name}\b", declaration):
                yield name


def reads_in_parts(name, text):
    """Files of /proc and /sys say that they are empty, and java.nio then reads the first byte alone; a number of
    proc_sys(5) has nothing behind that."""
    return "/src/main/" in name and KERNEL_FILE.search(text) and READ_IN_PARTS.search(text)


def package_of(name):
    return os.path.dirname(name) if "/src/main/java/" in name else None


def check():
    wrong = []
    for name in [*files("."), PAGE_OF_RESULTS]:
        text = open(name, encoding="utf-8").read()
        if is_long(name, text):
            number = next(i for i, line in enumerate(text.split("\n"), 1) if is_long(name, line))
            wrong.append(f"{name}:{number}: more than {LONGEST} characters: break the line")
    names = files(*SOURCES)
    for name in names:
        text = open(name, encoding="utf-8").read()
        if formatted(name, text) != text:
            wrong.append(f"{name}: white space at line ends, final newline or import order: run './udckpt format'")
        if name.endswith((".java", ".c", ".h", ".S")):
            wrong += [f"{name}:{text.count(chr(10), 0, stray.end()) + 1}: a comment ends twice ('/ */'): mend its end"
                      for stray in STRAY_END.finditer(text)]
        if name.endswith(".java"):
            if reads_in_parts(name, text):
                wrong.append(f"{name}: files of /proc and /sys are read by org.udckpt.linux.Proc, not java.nio's Files")
            wrong += [f"{name}: @param {strange}: there is no such parameter" for strange in strange_parameters(text)]
    known = set(names)
    for package in sorted({package_of(name) for name in names if name.endswith(".java") and package_of(name)}):
        if f"{package}/package-info.java" not in known:
            wrong.append(f"{package}: no package-info.java: say in a sentence what the package is for")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["check"]:
        return check()
    if sys.argv[1:] != ["format"]:
        sys.exit(__doc__)
    for name in files(*SOURCES):
        text = open(name, encoding="utf-8").read()
        better = formatted(name, text)
        if better != text:
            print(name)
            with open(name, "w", encoding="utf-8") as file:
                file.write(better)
    return 0


if __name__ == "__main__":
    sys.exit(main())
