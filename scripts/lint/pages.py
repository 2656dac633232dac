#!/usr/bin/env python3
"""Links in pages: each file that one names is there, and each heading. Addresses in the web are not asked."""
import os
import re
import subprocess
import sys

LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.M)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    seen = {}
    made = set()
    for heading in HEADING.findall(re.sub(r"^```.*?^```", "", open(page, encoding="utf-8").read(), flags=re.M | re.S)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        made.add(anchor if count == 0 else f"{anchor}-{count}")
    return made


def main():
    listed = subprocess.run(["git", "ls-files", "-z", "--", "*.md"], stdout=subprocess.PIPE, check=True).stdout.decode()
    wrong = []
    for page in [name for name in listed.split("\0") if name and os.path.isfile(name)]:
        text = CODE.sub("", open(page, encoding="utf-8").read())
        for match in LINK.finditer(text):
            link = match.group(1) or match.group(2)
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(target):
                wrong.append(f"{page}: {link}: there is no {target}")
            elif anchor and target.endswith(".md") and anchor not in anchors(target):
                wrong.append(f"{page}: {link}: no heading of {target} is so called")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
