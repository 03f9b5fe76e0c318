# SPDX-License-Identifier: BSD-2-Clause
"""The exceptions. Each is a taper.Error and, if Python has a class for the mistake, also an instance of that class."""
import contextlib
import errno
import os


class Error(RuntimeError):
    """An error of Taper; its text is one line. `status` is the kind of error, `detail` has further lines (all missing operators, the calls of
    modules that raised) or is "", and `offset` is the position in the file or None."""
    __module__ = "taper"
    status = None
    detail = ""
    offset = None


class WrongType(Error, TypeError):
    """An argument has a type that the function does not accept."""
    __module__ = "taper"


class WrongValue(Error, ValueError):
    """An argument has a value that the function does not accept."""
    __module__ = "taper"


class OutOfRange(Error, OverflowError):
    """A number does not fit into the bits of its type."""
    __module__ = "taper"


class NoMethod(Error, AttributeError):
    """The model has no method of this name."""
    __module__ = "taper"


class TooDeep(Error, RecursionError):
    """A value is nested too deep, or contains itself."""
    __module__ = "taper"


class TooLarge(Error, MemoryError):
    """A value has too many items."""
    __module__ = "taper"


class FileNotFound(Error, FileNotFoundError):
    """The file does not exist. `errno`, `strerror` and `filename` have the meaning that they have in FileNotFoundError."""
    __module__ = "taper"

    def __init__(self, text, filename):
        FileNotFoundError.__init__(self, errno.ENOENT, os.strerror(errno.ENOENT), filename)
        self._text = text

    def __str__(self):
        return self._text

    def __reduce__(self):
        return type(self), (self._text, self.filename), self.__dict__


# When the module in C raises one of these classes of Python, the package's class replaces that class.
OWN = {TypeError: WrongType, ValueError: WrongValue, OverflowError: OutOfRange, AttributeError: NoMethod, RecursionError: TooDeep,
       MemoryError: TooLarge, RuntimeError: Error}


def complete(status):
    """Sets the status of the classes that the binding raises by itself."""
    for own in (WrongType, WrongValue, OutOfRange, NoMethod):
        own.status = status.ARGUMENT
    for own in (TooDeep, TooLarge):
        own.status = status.RESOURCE
    FileNotFound.status = status.FILE


def _is_missing(path):
    try:
        os.stat(path)
    except FileNotFoundError:
        return True
    except OSError:
        pass
    return False


def made(status, message, detail, offset, path):
    """Returns the exception for an error of the library; offset is -1 and path None if it is not about a file."""
    first, _, rest = message.strip("\n").partition("\n")
    if path is not None:
        path = os.fsdecode(path)
        first = f"{path}: {first}".replace("\n", "\\n")
    if status == status.FILE and path is not None and _is_missing(path):
        error = FileNotFound(first, path)
    else:
        error = (WrongValue if status == status.ARGUMENT else Error)(first)
    error.status = status
    error.detail = "\n".join(part for part in (rest, detail) if part)
    error.offset = None if offset < 0 else offset
    if error.detail:
        error.add_note(error.detail)  # a traceback shows notes, and str() does not
    return error


@contextlib.contextmanager
def own_file_errors(path):
    """Raises a FileNotFoundError inside the block as taper.FileNotFound of that path."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFound(f"{path}: {error.strerror}", path) from None
