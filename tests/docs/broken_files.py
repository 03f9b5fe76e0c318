# SPDX-License-Identifier: BSD-2-Clause
"""Files that pages load to show how a load fails, made from a good TorchScript file and a good lite file."""
import collections
import os
import pickle
import zipfile


def edited(source, target, edit):
    """Copies an archive; edit(name, bytes) returns the new bytes of a record."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for record in old.infolist():
            new.writestr(record.filename, edit(record.filename, old.read(record)))


def write(folder, script, lite):
    def path(name):
        return os.path.join(folder, name)

    def replace(record, before, after):
        def edit(name, data):
            if not name.endswith(record):
                return data
            if before not in data:
                raise ValueError(f"{record} does not contain {before}")
            return data.replace(before, after)
        return edit

    edited(lite, path("newer.ptl"), replace("/bytecode.pkl", b"\x80\x02K\x08", b"\x80\x02K\x63")) # protocol 2, the integer 99
    edited(lite, path("own_operator.ptl"), replace("/bytecode.pkl", b"aten::add", b"mine::add"))
    edited(script, path("newer.pt"), replace("/version", b"3", b"99"))
    with zipfile.ZipFile(path("weights.pth"), "w") as archive: # the form in which torch.save stores a dictionary
        archive.writestr("weights/data.pkl", pickle.dumps(collections.OrderedDict(), protocol=2))
        archive.writestr("weights/version", "3\n")
    with open(path("page.ptl"), "w", encoding="utf-8") as file:
        file.write("<!DOCTYPE html><title>Not found</title>")
