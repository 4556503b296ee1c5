#!/usr/bin/env python3
"""Compiles every kernel for the named architectures and prints what each needs: nothing is run, so no device is needed.

usage: scripts/kernel_resources.py [--jobs N] [--all] ARCHITECTURE...      e.g. 80 86 89 90 100 120
       scripts/kernel_resources.py --built FOLDER --log FILE ARCHITECTURE...

A row is a folder of src/cuda: its kernels, the most registers and static shared memory of one, and how many spill
registers to memory. --all prints a row for each kernel. Kernels of wgmma (src/cuda/tensor) are compiled for 90a alone, and
listed under 90. All architectures are compiled in one go, as packages are; the processor time of compilers is printed.
--built takes a build that is there, whose output is in FILE: of wheels, say, made with CUDAFLAGS=--resource-usage.
"""

import argparse
import collections
import os
import pathlib
import re
import resource
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENTRY = re.compile(r"Compiling entry function '(\w+)' for 'sm_(\w+)'")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
FAT_BINARY = bytes.fromhex("50ed55ba")
FAT_MACHINE_CODE = 2

Kernel = collections.namedtuple("Kernel", "name registers shared stack spilled")


def compile_for(architectures, jobs):
    """The compiler's own words on every kernel, and the folder of the objects."""
    folder = ROOT / "build" / ("kernels-" + "-".join(architectures))
    listed = ";".join(f"{architecture}-real" for architecture in architectures)
    subprocess.run(
        ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON",
         "-DKITH_CUDA=ON", "-DKITH_CUDA_QUICK=OFF", f"-DCMAKE_CUDA_ARCHITECTURES={listed}",
         "-DCMAKE_CUDA_FLAGS=--resource-usage", "-DKITH_BUILD_CLI=OFF", "-DKITH_BUILD_TESTS=OFF"],
        check=True, stdout=subprocess.DEVNULL)
    # Everything is compiled again where the compiler's words are wanted again; ccache keeps them.
    subprocess.run(["ninja", "-C", folder, "-t", "clean"], check=True, stdout=subprocess.DEVNULL)
    built = subprocess.run(["ninja", "-C", folder, "-j", str(jobs), "kith_cuda_objects", "kith_cuda_sm90a_objects"],
                           text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    (folder / "kernels.log").write_text(built.stdout)
    if built.returncode != 0:
        sys.exit(built.stdout[-4000:])
    return built.stdout, folder


def machine_code_bytes(objects):
    """Bytes of machine code by architecture, as it is stored, compressed: the entries of the objects' fat binaries."""
    sizes = collections.Counter()
    for path in objects:
        with tempfile.NamedTemporaryFile() as section:
            subprocess.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin", path, section.name], check=True)
            data = pathlib.Path(section.name).read_bytes()
        at = data.find(FAT_BINARY)
        while at >= 0:
            header, size = struct.unpack_from("<HQ", data, at + 6)
            entry, end = at + header, at + header + size
            while entry < end:
                kind, entry_header, entry_size = struct.unpack_from("<H2xIQ", data, entry)
                if kind == FAT_MACHINE_CODE:
                    sizes[str(struct.unpack_from("<I", data, entry + 28)[0])] += entry_size
                entry += entry_header + entry_size
            at = data.find(FAT_BINARY, end)
    return sizes


def kernels_in(text, architecture):
    found = []
    name, stack, spilled = None, 0, 0
    for line in text.splitlines():
        if entry := ENTRY.search(line):
            name = entry[1] if entry[2].startswith(architecture) else None
        elif name and (spills := SPILLS.search(line)):
            stack, spilled = int(spills[1]), int(spills[2]) + int(spills[3])
        elif name and (used := USED.search(line)):
            shared = SHARED.search(line)
            found.append(Kernel(name, int(used[1]), int(shared[1]) if shared else 0, stack, spilled))
            name = None
    names = subprocess.run(["c++filt"], input="\n".join(kernel.name for kernel in found), text=True,
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    return [kernel._replace(name=name) for kernel, name in zip(found, names)]


def folder_of(kernel):
    """The folder is the namespace; kernels of CUB have none of ours."""
    inside = re.search(r"kith::cuda::(\w+)::", kernel.name)
    if inside:
        return inside[1]
    return "cub" if kernel.name.removeprefix("void ").startswith("cub::") else "other"


def print_table(architecture, kernels, size, every):
    print(f"\nsm_{architecture}: {len(kernels)} kernels, {size / 2**20:.1f} MiB of machine code, compressed\n")
    if every:
        print("| kernel | registers | shared memory | stack | spilled |\n|---|---|---|---|---|")
        for kernel in sorted(kernels):
            print(f"| `{kernel.name}` | {kernel.registers} | {kernel.shared} | {kernel.stack} | {kernel.spilled} |")
        return
    folders = collections.defaultdict(list)
    for kernel in kernels:
        folders[folder_of(kernel)].append(kernel)
    print("| folder | kernels | registers, at most | static shared memory, at most | kernels that spill | bytes, at most |")
    print("|---|---|---|---|---|---|")
    for folder, members in sorted(folders.items()):
        spilling = [kernel.spilled for kernel in members if kernel.spilled]
        print(f"| {folder} | {len(members)} | {max(kernel.registers for kernel in members)} "
              f"| {max(kernel.shared for kernel in members)} | {len(spilling)} | {max(spilling, default=0)} |")
    for kernel in sorted(kernels, key=lambda kernel: -kernel.spilled):
        if kernel.spilled:
            print(f"spills {kernel.spilled} bytes: {kernel.name[:160]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("architectures", nargs="+", metavar="ARCHITECTURE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true", help="a row for each kernel")
    parser.add_argument("--built", type=pathlib.Path, metavar="FOLDER", help="of a build that is there")
    parser.add_argument("--log", type=pathlib.Path, metavar="FILE", help="what its compilers printed")
    wanted = parser.parse_args()
    if (wanted.built is None) != (wanted.log is None):
        parser.error("--built and --log go together")
    if wanted.built is None:
        text, folder = compile_for(wanted.architectures, wanted.jobs)
    else:
        text, folder = wanted.log.read_text(), wanted.built
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    objects = list(folder.glob("src/CMakeFiles/kith_cuda*.dir/**/*.cu.o"))
    sizes = machine_code_bytes(objects)
    total = sum(path.stat().st_size for path in objects)
    print(f"{total / 2**20:.1f} MiB of objects; {spent.ru_utime + spent.ru_stime:.0f} s of processor time")
    for architecture in wanted.architectures:
        kernels = kernels_in(text, architecture)
        if not kernels:
            sys.exit(f"the compiler named no kernel for sm_{architecture}")
        print_table(architecture, kernels, sizes[architecture], wanted.all)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
