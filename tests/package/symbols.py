#!/usr/bin/env python3
"""What the shared library offers to the linker is what the header declares, no more and no less.

usage: symbols.py LIBRARY HEADER COMMITTED_LIST
"""
import re
import subprocess
import sys


def readelf(*args):
    return subprocess.run(["readelf", "--wide", *args], check=True, capture_output=True, text=True,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def exported(library):
    """(name, version, type) of each symbol that the library defines; the version node itself is not one."""
    for line in readelf("--dyn-syms", library).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or fields[6] in ("UND", "ABS"):
            continue
        name, _, version = fields[7].partition("@")
        yield name, version.lstrip("@"), fields[3]


def declared(header):
    text = re.sub(r"/\*.*?\*/", "", open(header, encoding="utf-8").read(), flags=re.S)
    return set(re.findall(r"^HC_API\b[^;(]*?\b(hc_\w+)\(", text, re.M))


def main(library, header, committed):
    symbols = list(exported(library))
    names = {name for name, _, _ in symbols}
    from_header = declared(header)
    lines = [line.split("#")[0].strip() for line in open(committed, encoding="utf-8")]
    from_list = {line for line in lines if line}
    dynamic = readelf("--dynamic", library)

    problems = []

    def expect(fine, text):
        if not fine:
            problems.append(text)

    expect(names == from_header, f"library and header differ: {sorted(names ^ from_header)}")
    expect(from_list == from_header, f"committed list and header differ: {sorted(from_list ^ from_header)}")
    expect([line for line in lines if line] == sorted(from_list), "the committed list is not sorted, or tells one twice")
    expect(all(version == "HC_0" for _, version, _ in symbols), "not all are at HC_0")
    expect(all(kind == "FUNC" for _, _, kind in symbols), "something else than functions is exported (no TLS, no data)")
    soname = "".join(re.findall(r"\(SONAME\).*", dynamic))
    expect("[libhomecooking.so.0]" in soname, f"SONAME is not libhomecooking.so.0: {soname}")
    expect("NODELETE" in "".join(re.findall(r"\(FLAGS_1\).*", dynamic)), "not linked with -z nodelete")
    expect("TEXTREL" not in dynamic, "it has text relocations")
    needed = set(re.findall(r"\(NEEDED\).*?\[([\w.+-]+)\]", dynamic))
    known = re.compile(r"(libc|libm|libpthread|libgcc_s|libstdc\+\+|ld-linux-[\w-]+)\.so\.\d+|libc\.musl-\w+\.so\.1")
    expect(all(known.fullmatch(n) for n in needed), f"it needs more than the system's own libraries: {sorted(needed)}")

    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(names)} symbols at HC_0")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
